import JSON

/// Why an item isn't a sample.
struct SampleProblem: Error {
    let reason: String
}

extension JSONSpan {
    /// Shows each member of an object.
    /// - Throws: `SampleProblem` if it isn't well-formed.
    func eachMember(_ body: (_ name: JSONSpan, _ value: JSONSpan) -> Void) throws(SampleProblem) {
        do throws(JSONScanError) {
            var scanner = JSONScanner(bytes)
            try scanner.beginObject()
            while let name = try scanner.nextMember() { body(name, try scanner.value()) }
        } catch { throw SampleProblem(reason: "\(error)") }
    }
}
