import HealthModel
import Protocol

/// Which rules of the schema a message's body must obey, as described at the top of the schema.
struct SchemaRules {
    /// The query that each consumer asked under each id: an answer's rule depends on the question.
    private var queries: [String: String] = [:]

    /// Empty for a message without a body; nil if no rule covers such a message.
    mutating func rules(for message: Message) -> [String]? {
        let (family, name) = Self.split(message.topic)
        switch family {
        case "heartbeat": return ["heartbeat", Self.heartbeat(of: message.body["plugin"].string ?? "")]
        case "observed", "sync": return [family]
        case "figures", "events", "alert": return ["hint"]
        case "daily" where name == "summary": return ["hint"]
        case "pull":
            guard let query = message.body["query"].string else { return nil }
            // A request that is meant to be refused.
            guard query != LiveStack.unknownQuery else { return [] }
            queries["\(message.body["consumer"].string ?? "")/\(message.body["id"].int ?? 0)"] = query
            return ["pull-\(query)"]
        case "page":
            guard message.body["error"].isNull else { return ["page-error"] }
            // A tap that connected after the question can't know which query it was.
            guard let query = queries["\(name)/\(message.body["id"].int ?? 0)"] else { return [] }
            return ["page-\(query)"]
        case "acknowledged", "standby", "ingest", "ingested": return [family]
        case "control" where name == "hello": return message.body.isNull ? [] : nil
        case "control":
            switch message.body["command"].string {
            case "launch", "expire", "cancel": return ["control-task"]
            case let command?: return ["control-\(command)"]
            case nil: return nil
            }
        default: return nil
        }
    }

    private static func split(_ topic: String) -> (String, String) {
        let parts = topic.split(separator: ".", maxSplits: 1).map(String.init)
        return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
    }

    private static func heartbeat(of plugin: String) -> String {
        switch plugin {
        case "hub", "ingest", "dashboard", "observer", "debouncer", "consolidator", "uploader", "supervisor":
            "heartbeat-\(plugin)"
        case "backend": "heartbeat"
        default: "heartbeat-handler"
        }
    }
}
