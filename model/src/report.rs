//! Results of `check`, with what they cover, and their JSON form.
