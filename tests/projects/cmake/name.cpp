#include <string>

std::string name() { return std::string("con") + "tech"; }
