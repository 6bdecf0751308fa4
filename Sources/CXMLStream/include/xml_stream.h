#pragma once
// Narrow header over libxml2's SAX2 push parser: nothing of libxml2's own headers reaches Swift (they pull in ICU's, which clash).
