import HealthModel

/// How people are identified at the destination of their resources: each by an identifier, never by name.
package struct PatientNames: Sendable, Equatable {
    private let texts: [String: String]

    /// - Parameter options: an object with a string for each user: either `system|value`, or a value in our own system.
    package init(_ options: Value) {
        texts = (options.object ?? [:]).compactMapValues(\.string).filter { !$0.value.isEmpty }
    }

    /// The identifiers as configured, stored so that a change is noticed.
    package var kept: Value { .object(texts.mapValues { .string($0) }) }

    package var isEmpty: Bool { texts.isEmpty }

    /// The identifier of a user: the user's own name in our own system, unless something else is configured.
    package func identifier(of user: String) -> ResourceIdentifier {
        guard let text = texts[user] else { return ResourceIdentifier(system: ResourceIdentifier.people, value: user) }
        guard let bar = text.firstIndex(of: "|"), bar > text.startIndex, text.index(after: bar) < text.endIndex else {
            return ResourceIdentifier(system: ResourceIdentifier.people, value: text)
        }
        return ResourceIdentifier(system: String(text[..<bar]), value: String(text[text.index(after: bar)...]))
    }

    /// Why the options can't be used, worded as the end of a sentence that begins with `patients`; nil if they can be
    /// used. If two users had the same identifier, each would overwrite the other's resources.
    package var problem: String? {
        let keys = texts.keys.map { identifier(of: $0).key }
        return Set(keys).count == keys.count ? nil : "gives two users one identifier: each needs its own"
    }

    /// Whether a user who isn't listed here would get the identifier of one who is.
    package func isTaken(by user: String) -> Bool {
        guard texts[user] == nil else { return false }
        let key = identifier(of: user).key
        return texts.keys.contains { identifier(of: $0).key == key }
    }
}
