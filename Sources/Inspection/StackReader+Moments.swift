import Client
import Configuration
import HealthModel
import Protocol

extension StackReader {
    /// When each of these ascending sequence numbers was committed; nil for any committed before such times were
    /// recorded.
    package func moments(_ instance: StackConfiguration.Instance, of sequences: [SequenceNumber]) throws -> [Instant?] {
        guard let last = sequences.max() else { return [] }
        var known: [(sequence: SequenceNumber, at: Instant)] = []
        var next = 0
        return try sequences.map { sequence in
            while next < known.count, known[next].sequence < sequence { next += 1 }
            if next == known.count {
                // One answer holds a bounded number of commits: the next ones are requested when needed.
                let answer: [Page<MomentsPage>] = try pages(instance, .moments(from: sequence, to: last))
                known = (answer.last?.moments ?? []).compactMap {
                    $0.count == 2 ? (SequenceNumber($0[0]), Instant(microseconds: $0[1])) : nil
                }
                next = 0
            }
            return known.indices.contains(next) ? known[next].at : nil
        }
    }
}
