import DeliveryKit
import HealthModel
import JSON

/// A backend's answer about the elements of a request.
package struct UploadAnswer: Sendable, Equatable {
    package enum Form: Sendable, Equatable {
        /// No bytes, or only white space.
        case empty
        case json
        /// Anything else, such as a web page, or a bare word or number.
        case other
    }

    package typealias Counts = DeliveryAnswer.Counts
    package typealias Refusal = DeliveryAnswer.Refusal

    /// How many characters of a reason are kept.
    static let reasonLimit = 500
    /// The maximum length of a generation, in bytes, since it goes into a header of later requests.
    static let generationLimit = 128

    package var form = Form.empty
    /// nil when the body has none.
    package var counts: Counts?
    package var refused: [Refusal] = []
    /// Ids of known elements that the backend has under the same version but with different content.
    package var conflicts: [String] = []
    /// These are false when the body has refusals in an unknown form, or counts that aren't integers.
    package var areRefusalsReadable = true
    package var areCountsReadable = true
    /// A member with which the body reports failure, whatever the status, in a form other than the contract's.
    package var failure: String?
    /// The nonce of the backend's database: a different one means that it was recreated or restored.
    package var generation: String?
    /// How many requests have changed something since the database was made, or at least a number that rises with each
    /// of them.
    package var sequence: Int64?
    /// Whether the backend asks for a sync, as by a silent push.
    package var requestsSync = false

    /// Reads an answer's body; if the body has another form, only that fact is recorded.
    package init(body: [UInt8]) {
        guard body.contains(where: { $0 > 0x20 }) else { return }
        // Until the body is read, its form counts as unknown.
        form = .other
        guard JSONScanner.isUTF8(body) else { return }
        var answer = self
        answer.form = .json
        do {
            try body.withUnsafeBytes { try answer.read($0) }
            self = answer
        } catch {
            return
        }
    }

    /// What the answer says about elements, and which backend says so.
    package func delivery(status: Int) -> DeliveryAnswer {
        var answer = DeliveryAnswer(
            counts: counts, refused: refused, conflicts: conflicts, generation: generation, sequence: sequence,
            status: status)
        answer.requestsSync = requestsSync
        return answer
    }

    private mutating func read(_ body: UnsafeRawBufferPointer) throws(JSONScanError) {
        var scanner = JSONScanner(body)
        guard scanner.nextIsObject() else {
            if scanner.nextIsArray() {
                failure = try AnswerFailure.array(&scanner, depth: AnswerFailure.depth).found.map { "\($0)" }
            } else {
                form = .other
                _ = try scanner.value()
            }
            return try scanner.end()
        }
        try scanner.beginObject()
        while let name = try scanner.nextMember() {
            if name == "counts", scanner.nextIsObject() {
                try readCounts(&scanner)
            } else if name == "refused" {
                try readRefusals(&scanner)
            } else if name == "conflicts", scanner.nextIsArray() {
                try readConflicts(&scanner)
            } else if name == "generation" {
                generation = Self.nonce(try scanner.value())
            } else if name == "sequence" {
                sequence = Self.sequence(try scanner.value())
            } else if name == "syncRequested" {
                requestsSync = try scanner.value().isTrue
            } else if let word = try AnswerFailure.read(name, &scanner, depth: AnswerFailure.depth) {
                failure = failure ?? "\(word)"
            }
        }
        try scanner.end()
    }

    /// Text that is allowed in a header; nil for anything else.
    static func nonce(_ span: JSONSpan) -> String? {
        guard let text = span.text, (1...generationLimit).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return text
    }

    static func sequence(_ span: JSONSpan) -> Int64? { span.integer.flatMap { $0 >= 0 ? $0 : nil } }

    private mutating func readCounts(_ scanner: inout JSONScanner) throws(JSONScanError) {
        var counts: Counts?
        try scanner.beginObject()
        while let name = try scanner.nextMember() {
            let place: WritableKeyPath<Counts, Int64>
            if name == "created" {
                place = \.created
            } else if name == "updated" {
                place = \.updated
            } else if name == "known" {
                place = \.known
            } else if name == "refused" {
                place = \.refused
            } else {
                if let word = try AnswerFailure.read(name, &scanner, depth: 1) { failure = failure ?? "\(word)" }
                continue
            }
            let count = try scanner.value().integer
            if count == nil { areCountsReadable = false }
            counts = counts ?? Counts()
            counts?[keyPath: place] = count ?? 0
        }
        self.counts = counts
    }

    /// Anything that isn't a string has some other meaning, in the server's own terms.
    private mutating func readConflicts(_ scanner: inout JSONScanner) throws(JSONScanError) {
        try scanner.beginArray()
        while try scanner.nextElement() {
            if let id = try scanner.value().text { conflicts.append(id) }
        }
    }

    private mutating func readRefusals(_ scanner: inout JSONScanner) throws(JSONScanError) {
        guard scanner.nextIsArray() else {
            // Some servers write null, false or 0 for "none".
            let span = try scanner.value()
            if !span.isNull, span.integer != 0, !span.isFalse { areRefusalsReadable = false }
            return
        }
        try scanner.beginArray()
        while try scanner.nextElement() { try readRefusal(&scanner) }
    }

    private mutating func readRefusal(_ scanner: inout JSONScanner) throws(JSONScanError) {
        var refusal = Refusal(id: nil, index: nil, reason: "")
        if scanner.nextIsObject() {
            try scanner.beginObject()
            while let name = try scanner.nextMember() {
                let span = try scanner.value()
                if name == "id" {
                    refusal.id = span.text
                } else if name == "list" {
                    refusal.list = span.text
                } else if name == "index" {
                    refusal.index = span.integer.flatMap { Int(exactly: $0) }
                } else if name == "reason" {
                    // Text from another server: only enough of it to know the reason is kept in files and logs.
                    refusal.reason = String((span.text ?? "").prefix(Self.reasonLimit))
                }
            }
        } else {
            // A bare id.
            refusal.id = try scanner.value().text
        }
        if refusal.id == nil, refusal.index == nil { areRefusalsReadable = false }
        refused.append(refusal)
    }
}
