import HealthModel

/// A route's file, read ahead as a whole if it is small enough: its content tells whether it needs to be parsed.
final class RouteFile: ByteSource {
    /// Twelve hours at a point a second.
    private static let limit = 8 << 20
    private static let step = 256 << 10

    private let source: any ByteSource
    private var ahead: [UInt8] = []
    private var at = 0
    /// What ended the source, told after the bytes before it.
    private var failure: (any Error)?
    /// Whether all of it is here.
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

    /// The file together with whose route it is: the same file may come before its workout does.
    func piece(_ name: String, _ workout: WorkoutRoute.Workout?) -> PieceHash {
        let hash = ContentHash()
        let times = workout.map { "\($0.start.microseconds) \($0.end.microseconds) \($0.sourceName)" } ?? ""
        for part in ["route", name, times] { hash.add(Array((part + "\0").utf8)) }
        hash.add(ahead)
        return PieceHash(hash)
    }
}
