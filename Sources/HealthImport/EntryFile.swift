import HealthModel

/// A file in the archive, read completely in advance if it is small enough, because its content decides whether it must
/// be processed further.
final class EntryFile: ByteSource {
    /// Enough for a route of about ten hours at one point per second.
    static let limit = 8 << 20
    private static let step = 256 << 10

    private let source: any ByteSource
    private var ahead: [UInt8] = []
    private var at = 0
    /// The error that ended the source, reported after the bytes before it.
    private var failure: ArchiveDamage?
    /// Whether the whole content has been read.
    private(set) var isWhole = false

    init(_ source: any ByteSource) throws {
        self.source = source
        do {
            var isAtEnd = false
            while !isAtEnd, ahead.count < Self.limit {
                let more = try [UInt8](unsafeUninitializedCapacity: Self.step) { buffer, count in
                    count = try source.read(into: UnsafeMutableRawBufferPointer(buffer))
                }
                ahead += more
                isAtEnd = more.isEmpty
            }
            isWhole = isAtEnd
        } catch let damage as ArchiveDamage { failure = damage }
    }

    var position: Int64 { source.position }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = min(buffer.count, ahead.count - at)
        guard count == 0 else {
            ahead.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[at..<(at + count)])) }
            at += count
            return count
        }
        if let failure { throw failure }
        return isWhole ? 0 : try source.read(into: buffer)
    }

    /// The whole content; nil if it is too long to be held in memory.
    /// - Throws: `ArchiveDamage` if damage cut the content short.
    func whole() throws -> [UInt8]? {
        if let failure { throw failure }
        return isWhole ? ahead : nil
    }

    /// Identifies the file together with the workout that its route belongs to, because the same file may arrive before
    /// its workout does.
    func piece(_ name: String, _ workout: WorkoutRoute.Workout?) -> PieceHash {
        let times = workout.map { "\($0.start.microseconds) \($0.end.microseconds) \($0.sourceName)" } ?? ""
        return Self.piece(["route", name, times], ahead)
    }

    /// Identifies content together with everything else that the result of reading it depends on.
    static func piece(_ parts: [String], _ content: [UInt8]) -> PieceHash {
        let hash = ContentHash()
        for part in parts { hash.add(Array((part + "\0").utf8)) }
        hash.add(content)
        return PieceHash(hash)
    }
}
