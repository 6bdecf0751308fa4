import HealthStore

/// What an import has changed among older samples because its file has other forms of them, or calls their sources by
/// other names.
struct ImportRewrites {
    /// By type, the samples that another form of the same measurements has replaced.
    var replaced: [String: Int] = [:]
    var renamed: [NameProgress.Renaming] = []
    /// The types that the latest step has changed.
    var types: Set<String> = []

    var isEmpty: Bool { replaced.isEmpty && renamed.isEmpty }

    mutating func add(_ counts: FormCounts) {
        replaced.merge(counts.replaced, uniquingKeysWith: +)
        types.formUnion(counts.replaced.keys)
        types.formUnion(counts.restored.keys)
    }

    /// As stored in the observer's file.
    struct Kept: Codable {
        var replaced: [String: Int]
        var renamed: [NameProgress.Renaming]
    }

    var kept: Kept { Kept(replaced: replaced, renamed: renamed) }

    /// Continues from what an attempt before a crash has changed.
    mutating func goOn(from kept: Kept) {
        replaced.merge(kept.replaced, uniquingKeysWith: +)
        renamed = kept.renamed
    }
}
