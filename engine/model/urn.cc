#include "engine/model/urn.h"
