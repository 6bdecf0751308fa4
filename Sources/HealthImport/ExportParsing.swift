import HealthModel

/// Owns the parser of one document.
final class ExportParsing {
    private let parser: UnsafeMutablePointer<ExportParser>

    init(receiver: @escaping ExportReceiver, known: [PieceHash: Int]) {
        parser = .allocate(capacity: 1)
        parser.initialize(to: ExportParser(receiver: receiver, known: known))
    }

    deinit {
        parser.deinitialize(count: 1)
        parser.deallocate()
    }

    var summary: ReadSummary {
        get { parser.pointee.summary }
        set { parser.pointee.summary = newValue }
    }

    func parse(_ source: any ByteSource, entry: String, total: Int64) throws {
        try ExportParser.parse(parser, source, entry: entry, total: total)
    }

    /// The element that refers to a file in the archive, by the file's name with or without extension.
    func reference(to file: String) -> DocumentReference? {
        let name = file.split(separator: "/").last.map { String($0) } ?? file
        let stem = name.split(separator: ".").first.map { String($0) } ?? name
        return parser.pointee.references[name] ?? parser.pointee.references[stem]
    }

    /// The workout that refers to a route's file.
    func workout(ofRoute name: String) -> WorkoutRoute.Workout? { parser.pointee.workoutsByRoute[name] }
}
