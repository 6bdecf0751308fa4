#include "xml_stream.h"
