// Regions held across the calls that may ask name servers: all is given up before. The names are numbers, so that nobody is asked here.
// languages: c c++
// stats: poll=8
#include <arpa/inet.h>
#include <netdb.h>
#include "hooks.h"
int main(void) {
  struct addrinfo hints, *found;
  memset(&hints, 0, sizeof hints);
  hints.ai_flags = AI_NUMERICHOST;
  struct sockaddr_in address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int call = 1; call <= 8; call++) {
    FRAME;
    char host[64], room[1024];
    struct hostent entry, *result;
    int error;
    ACQUIRE(0, X, 1);
    switch (call) {
      case 1: CHECK(!getaddrinfo("127.0.0.1", 0, &hints, &found)); freeaddrinfo(found); break;
      case 2: CHECK(!getnameinfo((struct sockaddr *)&address, sizeof address, host, sizeof host, 0, 0, NI_NUMERICHOST)); break;
      case 3: CHECK(gethostbyname("127.0.0.1")); break;
      case 4: CHECK(!gethostbyname_r("127.0.0.1", &entry, room, sizeof room, &result, &error) && result); break;
      case 5: CHECK(gethostbyname2("127.0.0.1", AF_INET)); break;
      case 6: CHECK(!gethostbyname2_r("127.0.0.1", AF_INET, &entry, room, sizeof room, &result, &error) && result); break;
      // Whether it finds a name is the machine's affair: its table of hosts is asked, which is a file.
      case 7: gethostbyaddr(&address.sin_addr, sizeof address.sin_addr, AF_INET); break;
      default: gethostbyaddr_r(&address.sin_addr, sizeof address.sin_addr, AF_INET, &entry, room, sizeof room, &result, &error);
    }
    CHECK(is_free(0, X));
    RELEASE(0, 1);
  }
  return 0;
}
