import HealthModel

/// The samples with equal content at the destination. If the store has just as many, the source itself has duplicates.
struct Twins {
    private struct Copy {
        var key: ElementKey
        var isHere = false
    }

    private var copies: [Int64: [Copy]] = [:]
    private var contents: [ElementKey: Int64] = [:]
    /// Whether the store's rows have to be read to know which copies it has.
    private(set) var isWaiting = false
    /// Whether there were more than can be examined.
    private(set) var isCut = false

    /// Equal content of two people isn't a copy.
    static func content(_ content: Int64, of user: Int) -> Int64 {
        Int64(bitPattern: ElementFold.mixed(UInt64(bitPattern: content) ^ UInt64(user) << 32))
    }

    /// Keeps a row if its content may have occurred more than once.
    mutating func take(_ row: HeldPage.Row, _ key: ElementKey, among candidates: Set<Int64>) {
        guard let content = row.held.content.map({ Self.content($0, of: key.user) }), !row.held.isDeleted,
            candidates.contains(content)
        else { return }
        copies[content, default: []].append(Copy(key: key))
    }

    mutating func begin(isCut: Bool) {
        self.isCut = isCut
        copies = copies.filter { $0.value.count > 1 }
        for (content, group) in copies {
            for copy in group { contents[copy.key] = content }
        }
        isWaiting = !copies.isEmpty
    }

    mutating func isHere(_ key: ElementKey) {
        guard !contents.isEmpty, let content = contents[key],
            let index = copies[content]?.firstIndex(where: { $0.key == key })
        else { return }
        copies[content]?[index].isHere = true
    }

    /// All of the store's rows have been read.
    mutating func isRead() { isWaiting = false }

    /// The superfluous copies: those that the store doesn't have, or all but one if it has none of the group.
    var doubled: [(user: Int, name: String)] {
        copies.values.flatMap { group in
            let strangers = group.filter { !$0.isHere }
            return strangers.dropFirst(strangers.count == group.count ? 1 : 0).map {
                (user: $0.key.user, name: $0.key.name)
            }
        }.sorted { $0.name < $1.name }
    }
}
