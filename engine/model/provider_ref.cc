#include "engine/model/provider_ref.h"
