/// The names under which a stack is found on a broker. Pure.
package struct MQTTTopics: Sendable, Equatable {
    /// The prefix of the stack's own topics, and its node in discovery topics.
    package let base: String
    package let discoveryPrefix: String

    package init(base: String, discoveryPrefix: String) { (self.base, self.discoveryPrefix) = (base, discoveryPrefix) }

    /// Whether a text may be one level of a discovery topic.
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 64 && text.utf8.allSatisfy { isPlain($0) || $0 == 0x5F || $0 == 0x2D }
    }

    /// `online` while the stack is up.
    package var status: String { "\(base)/status" }

    /// Home Assistant says here that it has started.
    package var birth: String { "\(discoveryPrefix)/status" }

    package func day(of user: String, _ slot: DaySlot) -> String { "\(base)/\(Self.name(user))/\(slot.rawValue)" }

    package func discovery(_ object: String) -> String { "\(discoveryPrefix)/sensor/\(base)/\(object)/config" }

    /// Filters that match everything that a stack with these names leaves on the broker.
    package var own: [String] {
        [status] + DaySlot.allCases.map { "\(base)/+/\($0.rawValue)" } + ["\(discoveryPrefix)/sensor/\(base)/+/config"]
    }

    /// Whether a topic is that of a sensor's description.
    package func isDiscovery(_ topic: String) -> Bool {
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
        return levels.count == 5 && levels[0] == discoveryPrefix && levels[1] == "sensor" && levels[2] == base
            && levels[4] == "config"
    }

    /// Whether a topic is that of a person's day.
    package func isDay(_ topic: String) -> Bool {
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
        return levels.count == 3 && levels[0] == base && DaySlot(rawValue: String(levels[2])) != nil
    }

    /// A text as part of a topic: different texts stay different, and none contains "--".
    package static func name(_ text: String) -> String {
        var name = ""
        for byte in text.utf8 {
            if isPlain(byte) {
                name.unicodeScalars.append(Unicode.Scalar(byte))
            } else if byte == UInt8(ascii: ".") {
                name += "_"
            } else {
                let digits = String(byte, radix: 16)
                name += "-" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return name
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}

/// Which day a sensor shows.
package enum DaySlot: String, Sendable, CaseIterable {
    /// The person's local day so far.
    case today
    /// The day before: over, but late data still corrects it.
    case yesterday

    /// Days before today.
    var age: Int { self == .today ? 0 : 1 }
}
