import HealthModel
import Logging

/// What a new token should allow, and for whom.
package struct TokenWish: Sendable, Equatable {
    package var user: String
    /// nil for "phone", or for the first of "phone-2", "phone-3" and so on that is free.
    package var device: String?
    package var scope: TokenScope
    /// nil if the token is valid until it is revoked.
    package var ends: Instant?
    /// Whether its holder signs requests with it instead of presenting it.
    package var signs: Bool
    /// Whether its holder first gets a code, for which its app gets tokens that it renews.
    package var isInvited: Bool

    package init(
        user: String = "me", device: String? = nil, scope: TokenScope = .ingest, ends: Instant? = nil,
        signs: Bool = false, isInvited: Bool = false
    ) {
        (self.user, self.device, self.scope, self.ends, self.signs) = (user, device, scope, ends, signs)
        self.isInvited = isInvited
    }

    static let usualDevice = "phone"

    /// Reads a date such as `2027-01-31`, which means the end of that day in UTC, or ISO 8601 with an offset; nil for
    /// anything else.
    package static func end(_ text: String) -> Instant? {
        if let day = LocalDay(text) { return Instant(seconds: Int64(day.number + 1) * 86_400) }
        return InstantText.parse(text)
    }

    /// - Throws: `Failure` (usage) for an invalid request.
    func check(now: Instant) throws(Failure) {
        for (name, text) in [("--user", user), ("--device", device ?? Self.usualDevice)] {
            guard (1...100).contains(text.utf8.count),
                !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
            else {
                throw .usage("\(name) isn't a valid name", hint: "give a name of 1 to 100 bytes on one line")
            }
        }
        if let ends, ends <= now {
            throw .usage("the token would end before it begins", hint: "give a later --ends")
        }
    }
}
