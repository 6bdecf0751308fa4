#pragma once
// Narrow wrappers over what Swift can't call or doesn't import.
