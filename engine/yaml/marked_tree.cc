#include "engine/yaml/marked_tree.h"

#include <fmt/format.h>
#include <yaml.h>

#include <map>
#include <memory>

namespace davit {
namespace {

constexpr int kMaxDepth = 1000;

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(
        &parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    // libyaml counts characters; we want bytes.
    for (std::size_t i = 0; i < text.size(); ++i) {
      if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) {
        offsets_.push_back(i);
      }
    }
    offsets_.push_back(text.size());
  }
  ~Reader() { yaml_parser_delete(&parser_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Result<std::optional<MarkedNode>> Run() {
    while (true) {
      DAVIT_TRY(const Event event, Next());
      if (event->type == YAML_STREAM_END_EVENT) {
        return std::optional<MarkedNode>();
      }
      if (event->type == YAML_DOCUMENT_START_EVENT) {
        break;
      }
    }
    DAVIT_TRY(const Event first, Next());
    DAVIT_TRY(MarkedNode root, Node(*first, 0));
    return std::optional<MarkedNode>(std::move(root));
  }

 private:
  struct Deleter {
    void operator()(yaml_event_t* event) const {
      yaml_event_delete(event);
      delete event;
    }
  };
  using Event = std::unique_ptr<yaml_event_t, Deleter>;

  Result<Event> Next() {
    auto raw = std::make_unique<yaml_event_t>();
    if (yaml_parser_parse(&parser_, raw.get()) == 0) {
      Error error = MakeError(ErrorKind::kInvalid,
                              fmt::format("{}{}{}",
                                          parser_.problem == nullptr ? "not YAML" : parser_.problem,
                                          parser_.context == nullptr ? "" : " ",
                                          parser_.context == nullptr ? "" : parser_.context));
      error.where = SourceRange{file_,
                                static_cast<int>(parser_.problem_mark.line) + 1,
                                static_cast<int>(parser_.problem_mark.column) + 1,
                                0,
                                0};
      return Fail(std::move(error));
    }
    return Event(raw.release());
  }

  std::size_t Offset(const yaml_mark_t& mark) const {
    return mark.index < offsets_.size() ? offsets_[mark.index] : text_.size();
  }

  Error At(const yaml_event_t& event, std::string message) const {
    Error error = MakeError(ErrorKind::kInvalid, std::move(message));
    error.where = SourceRange{file_,
                              static_cast<int>(event.start_mark.line) + 1,
                              static_cast<int>(event.start_mark.column) + 1,
                              0,
                              0};
    return error;
  }

  void Place(const yaml_event_t& event, MarkedNode* node) const {
    node->begin = Offset(event.start_mark);
    node->end = Offset(event.end_mark);
    while (node->end > node->begin &&
           (text_[node->end - 1] == '\n' || text_[node->end - 1] == '\r')) {
      --node->end;
    }
    node->line = static_cast<int>(event.start_mark.line) + 1;
    node->column = static_cast<int>(event.start_mark.column) + 1;
  }

  static std::string Text(const unsigned char* text) {
    return text == nullptr ? std::string() : reinterpret_cast<const char*>(text);
  }

  Result<MarkedNode> Node(const yaml_event_t& event, int depth) {
    if (depth > kMaxDepth) {
      return Fail(At(event, "the document is nested too deeply"));
    }
    MarkedNode node;
    Place(event, &node);
    std::string anchor;
    if (event.type == YAML_ALIAS_EVENT) {
      const auto found = anchors_.find(Text(event.data.alias.anchor));
      if (found == anchors_.end()) {
        return Fail(
            At(event,
               fmt::format("the alias '{}' stands for nothing", Text(event.data.alias.anchor))));
      }
      MarkedNode copy = found->second;
      copy.is_alias = true;
      copy.begin = node.begin;
      copy.end = node.end;
      return copy;
    }
    if (event.type == YAML_SCALAR_EVENT) {
      Scalar(event, &node);
      anchor = Text(event.data.scalar.anchor);
    } else if (event.type == YAML_SEQUENCE_START_EVENT) {
      node.kind = MarkedNode::Kind::kSequence;
      const bool flow = event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
      node.style = flow ? MarkedNode::Style::kFlow : MarkedNode::Style::kBlock;
      node.tag = Text(event.data.sequence_start.tag);
      anchor = Text(event.data.sequence_start.anchor);
      DAVIT_TRY_VOID(Items(YAML_SEQUENCE_END_EVENT, depth, &node));
    } else {
      node.kind = MarkedNode::Kind::kMapping;
      const bool flow = event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
      node.style = flow ? MarkedNode::Style::kFlow : MarkedNode::Style::kBlock;
      node.tag = Text(event.data.mapping_start.tag);
      anchor = Text(event.data.mapping_start.anchor);
      DAVIT_TRY_VOID(Items(YAML_MAPPING_END_EVENT, depth, &node));
    }
    if (!anchor.empty()) {
      anchors_.insert_or_assign(anchor, node);
    }
    return node;
  }

  static void Scalar(const yaml_event_t& event, MarkedNode* node) {
    node->value.assign(reinterpret_cast<const char*>(event.data.scalar.value),
                       event.data.scalar.length);
    node->tag = Text(event.data.scalar.tag);
    switch (event.data.scalar.style) {
      case YAML_SINGLE_QUOTED_SCALAR_STYLE:
        node->style = MarkedNode::Style::kSingleQuoted;
        break;
      case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
        node->style = MarkedNode::Style::kDoubleQuoted;
        break;
      case YAML_LITERAL_SCALAR_STYLE:
        node->style = MarkedNode::Style::kLiteral;
        break;
      case YAML_FOLDED_SCALAR_STYLE:
        node->style = MarkedNode::Style::kFolded;
        break;
      case YAML_ANY_SCALAR_STYLE:
      case YAML_PLAIN_SCALAR_STYLE:
        node->style = MarkedNode::Style::kPlain;
        break;
    }
  }

  Result<void> Items(yaml_event_type_t end, int depth, MarkedNode* node) {
    while (true) {
      DAVIT_TRY(const Event event, Next());
      if (event->type == end) {
        // A block collection has no end of its own: the event stands where the next token begins.
        if (node->style == MarkedNode::Style::kFlow) {
          node->end = Offset(event->end_mark);
        } else if (!node->items.empty()) {
          node->end = node->items.back().end;
        }
        return {};
      }
      DAVIT_TRY(MarkedNode item, Node(*event, depth + 1));
      node->items.push_back(std::move(item));
    }
  }

  std::string_view text_;
  const std::string& file_;
  yaml_parser_t parser_;
  std::vector<std::size_t> offsets_;
  std::map<std::string, MarkedNode> anchors_;
};

}  // namespace

Result<std::optional<MarkedNode>> ParseMarkedYaml(std::string_view text, const std::string& file) {
  return Reader(text, file).Run();
}

}  // namespace davit
