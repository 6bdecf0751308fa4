import HealthModel

/// The id of an import that is derived from the file's content: the same content for the same person is the same
/// import, no matter how often or in what way it is handed over.
package enum ImportID {
    /// - Parameters:
    ///   - content: the file's hash, from `ContentHash`.
    ///   - attempt: 1, or more if earlier imports failed or were taken back.
    package static func of(content: [UInt8], user: String, attempt: Int) -> String {
        let hash = ContentHash()
        hash.add(content)
        hash.add(Array(user.utf8))
        let digits = Array("0123456789abcdef".utf8)
        let text = hash.value.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self) + (attempt > 1 ? "-\(attempt)" : "")
    }

    /// The attempt to use now: the first that has no import yet, or whose import still counts.
    /// - Parameter isSpent: whether an import with that id failed or was undone; nil if there is no such import.
    package static func next(
        content: [UInt8], user: String, isSpent: (_ id: String) throws -> Bool?
    ) rethrows -> String {
        var attempt = 1
        while true {
            let id = of(content: content, user: user, attempt: attempt)
            guard try isSpent(id) == true else { return id }
            attempt += 1
        }
    }
}
