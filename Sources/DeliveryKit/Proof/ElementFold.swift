import HealthModel

/// An element of one person's list.
struct ElementKey: Hashable, Sendable {
    /// The person's index.
    var user: Int
    var list: HeldList
    /// All zeros if the element's id isn't a UUID; then it is in `text`.
    var id: SampleID
    var text: String

    init(user: Int, list: HeldList, id: SampleID?, text: String) {
        (self.user, self.list) = (user, list)
        self.id = id ?? SampleID(high: 0, low: 0)
        self.text = id == nil ? text : ""
    }

    var name: String { text.isEmpty ? id.description : text }

    /// The part of the list that it belongs to.
    var part: ElementFold.Part {
        let number =
            list != .samples
            ? Int(ContentNumber.text(name) % ElementFold.documentParts)
            : text.isEmpty ? Int(id.high >> ElementFold.stretchBits) : -1
        return ElementFold.Part(user: user, list: list, number: number)
    }
}

/// The elements of both sides, folded into a few numbers for each part of a list, so that millions are compared in little
/// memory: only parts that differ need to be examined one by one.
///
/// The first 48 bits of a sample's id are its start in milliseconds, and a part is a stretch of some 25 days. Documents
/// are few; their parts go by their names.
struct ElementFold: Sendable {
    enum Side: Sendable { case ours, theirs }

    struct Part: Hashable, Sendable {
        var user: Int
        var list: HeldList
        /// -1 for samples whose ids aren't UUIDs.
        var number: Int

        /// The ids that bound a stretch of samples: the one before its first (nil for none), and its last.
        var ids: (after: SampleID?, last: SampleID) {
            guard number > 0 else { return (nil, SampleID(high: 1 << ElementFold.stretchBits - 1, low: .max)) }
            let first = UInt64(number) << ElementFold.stretchBits
            return (
                SampleID(high: first - 1, low: .max),
                SampleID(high: first | (1 << ElementFold.stretchBits - 1), low: .max)
            )
        }
    }

    private struct Sum {
        var ours = 0
        var theirs = 0
        /// The sum of this side's hashes minus the other's: of versions, and of contents.
        var versions: UInt64 = 0
        var contents: UInt64 = 0
    }

    /// Milliseconds are the upper 48 bits of an id's first half.
    static let stretchBits: UInt64 = 16 + 31
    static let documentParts: UInt64 = 16

    private var sums: [Part: Sum] = [:]

    mutating func add(_ key: ElementKey, _ held: HeldVersion, _ side: Side) {
        var seed = Self.mixed(Self.mixed(key.id.high) ^ key.id.low)
        if !key.text.isEmpty { seed = Self.mixed(seed ^ ContentNumber.text(key.text)) }
        seed ^= held.isDeleted ? 1 : 0
        let version = Self.mixed(seed ^ UInt64(bitPattern: held.version ?? 0) << 1)
        let content = Self.mixed(seed ^ (held.isDeleted ? 0 : UInt64(bitPattern: held.content ?? 0)) << 1)
        let part = key.part
        switch side {
        case .ours:
            sums[part, default: Sum()].ours += 1
            sums[part, default: Sum()].versions &+= version
            sums[part, default: Sum()].contents &+= content
        case .theirs:
            sums[part, default: Sum()].theirs += 1
            sums[part, default: Sum()].versions &-= version
            sums[part, default: Sum()].contents &-= content
        }
    }

    /// The parts that differ, joined into batches of about this many rows; a single part may have more.
    /// - Parameters:
    ///   - versions: whether the destination keeps versions.
    ///   - contents: whether it reports contents.
    func differing(rows limit: Int, versions: Bool, contents: Bool) -> [[Part]] {
        var batches: [[Part]] = []
        var rows = Int.max
        let found = sums.filter {
            $0.value.ours != $0.value.theirs || versions && $0.value.versions != 0
                || contents && $0.value.contents != 0
        }
        for (part, sum) in found.sorted(by: { $0.key < $1.key }) {
            let size = sum.ours + sum.theirs
            if rows.addingReportingOverflow(size).overflow || rows + size > limit {
                batches.append([])
                rows = 0
            }
            batches[batches.count - 1].append(part)
            rows += size
        }
        return batches
    }

    /// The last steps of SplitMix64.
    static func mixed(_ word: UInt64) -> UInt64 {
        var word = word &+ 0x9e37_79b9_7f4a_7c15
        word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
        return word ^ word >> 31
    }
}

extension ElementFold.Part: Comparable {
    static func < (a: Self, b: Self) -> Bool {
        (a.user, a.list.rawValue, a.number) < (b.user, b.list.rawValue, b.number)
    }
}
