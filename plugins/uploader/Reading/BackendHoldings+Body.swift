import DeliveryKit
import JSON
import Protocol

/// The answer to `GET /api/v1/stats`.
extension BackendHoldings {
    /// nil for a body that isn't such an answer, or has impossible numbers.
    package init?(body: [UInt8]) {
        guard JSONScanner.isUTF8(body) else { return nil }
        var read = Reading()
        do { try body.withUnsafeBytes { try read.take($0) } } catch {
            // The body isn't such an answer, so nothing more can be learned from it.
            return nil
        }
        guard let generation = read.generation, read.isSensible, read.created != nil || read.kept != nil else {
            return nil
        }
        self.init(
            generation: generation, sequence: read.sequence, created: read.created, kept: read.kept,
            takesColumns: read.takesColumns)
    }

    private struct Reading {
        var generation: String?
        var sequence: Int64?
        var created: Int64?
        var kept: Int64?
        var isSensible = true
        var takesColumns = false

        mutating func take(_ body: UnsafeRawBufferPointer) throws(JSONScanError) {
            var scanner = JSONScanner(body)
            try scanner.beginObject()
            while let name = try scanner.nextMember() {
                if name == "generation" {
                    generation = UploadAnswer.nonce(try scanner.value())
                } else if name == "sequence" {
                    sequence = UploadAnswer.sequence(try scanner.value())
                } else if name == "accepts", scanner.nextIsArray() {
                    try scanner.beginArray()
                    while try scanner.nextElement() {
                        if try scanner.value().text == SampleDelivery.contentType { takesColumns = true }
                    }
                } else if name == "counters", scanner.nextIsObject() {
                    try scanner.beginObject()
                    while let name = try scanner.nextMember() {
                        let span = try scanner.value()
                        if name == "created" { created = count(span) }
                    }
                } else if name == "samples" || name == "days" || name == "workouts" || name == "nights",
                    scanner.nextIsObject()
                {
                    try scanner.beginObject()
                    while let name = try scanner.nextMember() {
                        let span = try scanner.value()
                        guard name == "alive" || name == "deleted" else { continue }
                        let (sum, isTooMuch) = (kept ?? 0).addingReportingOverflow(count(span))
                        kept = sum
                        if isTooMuch { isSensible = false }
                    }
                } else {
                    _ = try scanner.value()
                }
            }
            try scanner.end()
        }

        private mutating func count(_ span: JSONSpan) -> Int64 {
            guard let count = span.integer, count >= 0 else {
                isSensible = false
                return 0
            }
            return count
        }
    }
}
