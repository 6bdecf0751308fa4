import HealthModel

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
