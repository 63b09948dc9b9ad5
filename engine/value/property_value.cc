#include "engine/value/property_value.h"
