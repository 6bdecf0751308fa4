import Configuration
import HealthModel
import Inspection
import Logging
import Protocol

extension Verification {
    /// Compares the backend, makes the uploader deliver the elements that it lacks, has in an older version or hasn't
    /// deleted, and compares once more. If they are scattered over more than 1,000 places of a changelog, those between
    /// the closest places are delivered too.
    /// - Parameter telling: called with the number of stretches of changelogs that are still to be delivered.
    package func repair(telling: (Int64) -> Void = { _ in }) throws -> VerifyReport {
        let before = try run()
        guard before.repairable > 0 else { return before }
        let client = MendClient(stack)
        defer { client.close() }
        var request = MendClient.request("replay")
        request.rows = before.again.mapValues { sequences in
            SequenceWindows.of(sequences).map { [$0.after, $0.until] }
        }
        let outcome = try client.mend(destination, request, progress: telling)
        guard case .done = outcome else {
            throw Failure("the uploader stopped meanwhile", hint: "it delivers at the next start, 'healthbus up'")
        }
        var after = try run()
        after.repaired = before.repairable
        return after
    }
}
