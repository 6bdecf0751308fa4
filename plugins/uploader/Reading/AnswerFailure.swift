import JSON

/// Signs that an answer isn't an acceptance, though its status says it is: servers may refuse in a form of their own.
///
/// The contract has one form (`refused`); a server that reports failure in a different one isn't assumed to have
/// accepted everything.
enum AnswerFailure {
    /// How deep to search: in the answer, in its members, and in the elements of those.
    static let depth = 3

    /// Members that indicate failure unless they are empty, false or 0.
    private static let failing: [StaticString] = [
        "error", "errors", "failed", "failure", "failures", "rejected", "rejects", "refused", "refusals", "invalid",
    ]
    /// Members that indicate failure when they are false.
    private static let succeeding: [StaticString] = ["ok", "success", "accepted"]
    /// Members that indicate failure when they contain one of `words`, or a status of 400 or more, as in "422
    /// Unprocessable Entity". The last three are of issues and remarks in lists, such as FHIR's.
    private static let reporting: [StaticString] = ["status", "result", "statusCode", "severity", "level"]
    private static let words: Set<String> = [
        "error", "fail", "failed", "failure", "fatal", "invalid", "refused", "rejected",
    ]

    /// Reads the member's value.
    /// - Returns: which of the words above shows failure; nil if nothing does.
    static func read(_ name: JSONSpan, _ scanner: inout JSONScanner, depth: Int) throws(JSONScanError) -> StaticString?
    {
        let word = failing.first { name == $0 }
        if scanner.nextIsObject() {
            let (isEmpty, found) = try object(&scanner, depth: depth)
            return found ?? (isEmpty ? nil : word)
        }
        if scanner.nextIsArray() {
            let (isEmpty, found) = try array(&scanner, depth: depth)
            return found ?? (isEmpty ? nil : word)
        }
        let value = try scanner.value()
        if let word { return value.isNull || value.isFalse || value.integer == 0 || value.text == "" ? nil : word }
        if let word = succeeding.first(where: { name == $0 }) { return value.isFalse ? word : nil }
        guard let word = reporting.first(where: { name == $0 }) else { return nil }
        if let status = value.integer { return status >= 400 ? word : nil }
        guard let text = value.text else { return nil }
        let isStatus = text.prefixMatch(of: #/[45][0-9]{2}\b/#) != nil
        return isStatus || words.contains(text.lowercased()) ? word : nil
    }

    /// The elements of an answer that is an array.
    static func array(
        _ scanner: inout JSONScanner, depth: Int
    ) throws(JSONScanError) -> (isEmpty: Bool, found: StaticString?) {
        var (isEmpty, found): (Bool, StaticString?) = (true, nil)
        try scanner.beginArray()
        while try scanner.nextElement() {
            isEmpty = false
            if depth > 1, scanner.nextIsObject() {
                let inner = try object(&scanner, depth: depth - 1).found
                found = found ?? inner
            } else {
                _ = try scanner.value()
            }
        }
        return (isEmpty, found)
    }

    private static func object(
        _ scanner: inout JSONScanner, depth: Int
    ) throws(JSONScanError) -> (isEmpty: Bool, found: StaticString?) {
        guard depth > 1 else {
            let span = try scanner.value()
            return (!span.bytes.contains { $0 > 0x20 && $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "}") }, nil)
        }
        var (isEmpty, found): (Bool, StaticString?) = (true, nil)
        try scanner.beginObject()
        while let name = try scanner.nextMember() {
            isEmpty = false
            let inner = try read(name, &scanner, depth: depth - 1)
            found = found ?? inner
        }
        return (isEmpty, found)
    }
}

extension JSONSpan {
    var isTrue: Bool { kind == .bool && bytes.first == UInt8(ascii: "t") }
    var isFalse: Bool { kind == .bool && bytes.first == UInt8(ascii: "f") }
}
