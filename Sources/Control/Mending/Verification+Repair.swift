import Configuration
import HealthModel
import Inspection
import Logging

extension Verification {
    /// Compares; has the uploader deliver exactly what is missing, older or not deleted there; and compares once more.
    /// - Parameter telling: told how many parts of that are still to be delivered.
    package func repair(telling: (Int64) -> Void = { _ in }) throws -> VerifyReport {
        let before = try run()
        guard before.repairable > 0 else { return before }
        let client = MendClient(stack)
        defer { client.close() }
        let outcome = try client.mend(
            try stack.instance(.uploader), "replay", ["rows": Self.rows(before.again)], progress: telling)
        guard case .done = outcome else {
            throw Failure("the uploader stopped meanwhile", hint: "it delivers at the next start, 'healthbus up'")
        }
        var after = try run()
        after.repaired = before.repairable
        return after
    }

    /// `{"observer": [[17, 18], …]}`: above the first, up to and with the second.
    private static func rows(_ again: [String: [Int64]]) -> Value {
        .object(
            again.mapValues { sequences in
                .array(SequenceWindows.of(sequences).map { [.integer($0.after), .integer($0.until)] })
            })
    }
}
