import HealthModel

/// A tool that hands over a file: its bytes from an offset on.
package struct FileQuery: Query {
    package typealias Answer = FilePage
    package static let name = "file"

    @IfReadable package var `import`: String?
    package var offset: Int64
}

extension Query where Self == FileQuery {
    package static func file(id: String, offset: Int64) -> Self { Self(import: id, offset: offset) }
}

/// Bytes of a file, following those of the previous part.
package struct FilePage: PageContent, Equatable {
    package var offset: Int64
    /// At most 60 KiB; empty only at the file's end.
    package var bytes: [UInt8]
    /// Set with the last bytes: the size of the whole file, and in `hash` its XXH3-128, high word first.
    package var size: Int64?
    package var hash: [UInt8]?

    package init(offset: Int64, bytes: [UInt8], size: Int64? = nil, hash: [UInt8]? = nil) {
        (self.offset, self.bytes, self.size, self.hash) = (offset, bytes, size, hash)
    }
}
