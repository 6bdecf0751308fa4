import HTTP
import HealthModel

/// What a backend said became of a request's elements.
public struct UploadAnswer: Sendable, Equatable {
    public struct Refusal: Sendable, Equatable {
        /// nil when the element had none.
        public var id: String?
        /// Where in its list it stands, from 0.
        public var index: Int?
        public var reason: String

        public init(id: String?, index: Int?, reason: String) {
            self.id = id
            self.index = index
            self.reason = reason
        }
    }

    /// Characters that are kept of a reason.
    static let reasonLimit = 500

    public var created = 0
    public var updated = 0
    public var known = 0
    public var refused: [Refusal] = []
    /// By id, the version that the backend keeps where it isn't the one sent.
    public var held: [String: Int64] = [:]
    /// The nonce of the backend's database: another one means that it was made anew or restored.
    public var generation: String?
    /// Microseconds since 1970, by the backend's clock.
    public var serverTime: Instant?
    /// Another kind of backend: its body says nothing to us.
    public var isForeign = true

    /// Reads an answer's body. A body of another form is a foreign backend's: after a 2xx all was accepted.
    public init(body: [UInt8]) {
        guard JSONScanner.isUTF8(body) else { return }
        var answer = self
        do {
            try body.withUnsafeBytes { try answer.read($0) }
            // Only a healthbus backend answers with both.
            if answer.generation != nil, !answer.isForeign { self = answer }
        } catch {
            // Not JSON, or of another shape: nothing to learn, nothing to mend; `isForeign` says so.
            return
        }
    }

    private mutating func read(_ body: UnsafeRawBufferPointer) throws(JSONScanError) {
        var scanner = JSONScanner(body)
        try scanner.beginObject()
        while let name = try scanner.nextMember() {
            if name == "counts", scanner.nextIsObject() {
                try readCounts(&scanner)
            } else if name == "refused", scanner.nextIsArray() {
                try scanner.beginArray()
                while try scanner.nextElement() { try readRefusal(&scanner) }
            } else if name == "held", scanner.nextIsObject() {
                try scanner.beginObject()
                while let id = try scanner.nextMember() {
                    if let version = try scanner.value().integer, let id = id.text { held[id] = version }
                }
            } else if name == "generation" {
                generation = try scanner.value().text
            } else if name == "serverTime" {
                serverTime = try scanner.value().instant
            } else {
                _ = try scanner.value()
            }
        }
        try scanner.end()
    }

    private mutating func readCounts(_ scanner: inout JSONScanner) throws(JSONScanError) {
        isForeign = false
        try scanner.beginObject()
        while let name = try scanner.nextMember() {
            let count = try scanner.value().integer.flatMap { Int(exactly: $0) } ?? 0
            if name == "created" {
                created = count
            } else if name == "updated" {
                updated = count
            } else if name == "known" {
                known = count
            }
        }
    }

    private mutating func readRefusal(_ scanner: inout JSONScanner) throws(JSONScanError) {
        guard scanner.nextIsObject() else {
            _ = try scanner.value()
            return
        }
        var refusal = Refusal(id: nil, index: nil, reason: "")
        try scanner.beginObject()
        while let name = try scanner.nextMember() {
            let span = try scanner.value()
            if name == "id" {
                refusal.id = span.text
            } else if name == "index" {
                refusal.index = span.integer.flatMap { Int(exactly: $0) }
            } else if name == "reason" {
                // Somebody else's words: enough to know why, and no more of them in files and logs.
                refusal.reason = String((span.text ?? "").prefix(UploadAnswer.reasonLimit))
            }
        }
        refused.append(refusal)
    }
}
