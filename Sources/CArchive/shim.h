// libarchive 3.6 and later.
#ifndef TC_CARCHIVE_SHIM_H
#define TC_CARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>

#endif
