#include "engine/value/value_diff.h"
