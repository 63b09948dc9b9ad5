#include "engine/value/property_path.h"
