#include "engine/model/resource_state.h"
