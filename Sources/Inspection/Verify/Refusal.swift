import Client
import HealthModel
import Protocol

/// What became of an element that the backend wouldn't accept.
package enum Refusal: Sendable, Equatable {
    case deadLetter
    /// A person dropped this version of it; a later version is delivered as usual.
    case dropped(version: Int64)

    func finding(of ours: HeldVersion) -> VerifyFinding? {
        switch self {
        case .deadLetter: .deadLetter
        case .dropped(let version): version == ours.version ? .dropped : nil
        }
    }

    /// The refusals of samples, keyed by id.
    static func samples(_ refused: [String: Refusal]) -> [SampleID: Refusal] {
        var samples: [SampleID: Refusal] = [:]
        for (id, refusal) in refused {
            if let id = SampleID(id) { samples[id] = refusal }
        }
        return samples
    }
}

extension Verification {
    /// What the backend wouldn't accept, by user and id.
    func refusals() throws -> [String: [String: Refusal]] {
        var refusals: [String: [String: Refusal]] = [:]
        // Dead letters are read first, so that one dropped in the meantime is counted either way.
        for entry in try DeadLetterReport(stack, MendSelection(), of: destination).entries {
            refusals[entry.letter.user, default: [:]][entry.letter.id] = .deadLetter
        }
        var after: Int64?
        repeat {
            let pages: [Page<LettersPage>] = try reader.pages(
                destination, .letters(MendSelection(), dropped: true, after: after))
            for element in pages.flatMap({ $0.dropped ?? [] }) where refusals[element.user]?[element.id] == nil {
                refusals[element.user, default: [:]][element.id] = .dropped(version: element.version)
            }
            after = pages.last?.continue
        } while after != nil
        return refusals
    }
}
