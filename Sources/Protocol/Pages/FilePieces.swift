import HealthModel

/// Consecutive bytes of a file, starting at an offset, from one answer.
package struct FilePieces: Sendable, Equatable {
    package var offset: Int64
    package var pieces: [[UInt8]]
    /// The file's size and hash; comes with the last piece.
    package var whole: Whole?

    package struct Whole: Sendable, Equatable {
        package var size: Int64
        package var hash: [UInt8]

        package init(size: Int64, hash: [UInt8]) { (self.size, self.hash) = (size, hash) }
    }

    package var end: Int64 { offset + pieces.reduce(0) { $0 + Int64($1.count) } }
}

extension FilePieces {
    /// nil when the pages aren't consecutive from `offset`, don't end where the file does although they should, or have
    /// neither bytes nor the file's end.
    package init?(_ pages: [Value], at offset: Int64) {
        self.init(offset: offset, pieces: [])
        for page in pages {
            guard whole == nil, let page = page.read(FilePage.self), page.offset == end else { return nil }
            pieces.append(page.bytes)
            if let size = page.size, let hash = page.hash { whole = Whole(size: size, hash: hash) }
        }
        if let whole, whole.size != end { return nil }
        guard end > offset || whole != nil else { return nil }
    }
}
