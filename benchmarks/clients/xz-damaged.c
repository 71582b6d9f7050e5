/* Reads a damaged .xz stream with liblzma's threaded decoder, a few bytes at a time: it must say that the data is damaged. */
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 256, PIECE = 96 };

int main(void) {
  uint8_t plain[LENGTH], packed[2 * LENGTH + 256], out[LENGTH];
  uint32_t state = 1;
  for (size_t i = 0; i < LENGTH; i++) {
    state = state * 1103515245 + 12345;
    plain[i] = state >> 16;
  }
  size_t end = 0;
  lzma_options_lzma options;
  if (lzma_lzma_preset(&options, 0)) return 2;
  options.dict_size = LZMA_DICT_SIZE_MIN;
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};
  if (lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, NULL, plain, LENGTH, packed, &end, sizeof packed)) return 2;
  /* The first byte of the block's data says which kind of chunk follows; this kind does not exist. */
  packed[LZMA_STREAM_HEADER_SIZE + (packed[LZMA_STREAM_HEADER_SIZE] + 1) * 4] = 0x7f;

  lzma_stream stream = LZMA_STREAM_INIT;
  lzma_mt threads = {.threads = 2, .memlimit_threading = 1 << 26, .memlimit_stop = 1 << 26};
  if (lzma_stream_decoder_mt(&stream, &threads)) return 2;
  stream.next_out = out;
  stream.avail_out = LENGTH;
  lzma_ret said = LZMA_OK;
  for (size_t at = 0; at < end && said == LZMA_OK; at += PIECE) {
    stream.next_in = packed + at;
    stream.avail_in = end - at < PIECE ? end - at : PIECE;
    said = lzma_code(&stream, LZMA_RUN);
  }
  if (said == LZMA_OK) said = lzma_code(&stream, LZMA_FINISH);
  lzma_end(&stream);
  puts(said == LZMA_DATA_ERROR ? "damaged" : "something else");
  return said != LZMA_DATA_ERROR;
}
