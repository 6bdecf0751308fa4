import HealthModel

/// The stack that a message on the broker belongs to: other programs may use topics that look like ours. Pure.
enum StackMark: Equatable {
    /// A message of some stack that doesn't say which one: descriptions have no room for that.
    case someStack
    /// The member `stack` of a day's message.
    case stack(String)

    /// nil for anything that no stack has written.
    init?(_ topic: String, _ payload: String, _ topics: MQTTTopics) {
        guard !payload.isEmpty, let content = try? Value(json: Array(payload.utf8)) else { return nil }
        if topics.isDay(topic), let owner = content["stack"].string {
            self = .stack(owner)
        } else if topics.isDiscovery(topic), content["origin"]["name"].string == Discovery.origin {
            self = .someStack
        } else {
            return nil
        }
    }

    /// Whether the message certainly belongs to a stack other than the one with this mark.
    func isOther(than owner: String) -> Bool {
        if case .stack(let theirs) = self { theirs != owner } else { false }
    }
}
