import Changelog
import HealthModel
import JSON
import MessageBus
import Protocol
import StageKit

/// The state of the manifest, and how far it has been written.
struct FilesManifest {
    enum State { case unknown, incomplete, complete }

    /// The state of the manifest on disk.
    private(set) var state = State.unknown
    private var writing: (effect: Int64, isComplete: Bool, last: String?)?

    /// The complete one on disk, as it was written; nil if another one is due.
    private var written: FileLedger.Entry?
    var settled: FileLedger.Entry? { state == .complete && writing == nil ? written : nil }

    var isBeingWritten: Bool { writing != nil }

    mutating func begin(isComplete: Bool) { writing = (0, isComplete, "") }
    mutating func gave(_ effect: Int64, last: String?) {
        writing?.effect = effect
        writing?.last = last
    }

    /// The path after which it continues; `.some(nil)` when it is complete; nil when the effect isn't the manifest's.
    func next(after effect: Int64) -> String?? {
        guard let writing, writing.effect == effect else { return nil }
        return .some(writing.last)
    }

    mutating func end(_ entry: FileLedger.Entry?) {
        written = entry
        state = writing?.isComplete == true ? .complete : .incomplete
        writing = nil
    }

    /// Notes that the content of the manifest on disk is out of date.
    mutating func isOld() { if state == .complete { state = .unknown } }

    mutating func fail() {
        writing = nil
        state = .unknown
    }
}

/// The list of all files, with their checksums.
extension FilesStage {
    static let manifestName = "manifest.json"
    /// The manifest's own job: no file has this number.
    private static let manifestJob: Int64 = 0
    private static let listedAtOnce = 1000

    /// - Parameter isComplete: whether no file is being written, or due to be. Files that have just changed may still
    ///   be waiting for their time; the anchor doesn't cover the samples in them.
    func writeManifest(isComplete: Bool, _ turn: Turn) throws {
        manifest.begin(isComplete: isComplete)
        try continueManifest(after: "", isComplete: isComplete, turn)
    }

    func receive(manifest result: EffectResult, _ outcome: FileOutcome, _ turn: Turn) throws -> Bool {
        guard let next = manifest.next(after: result.id) else { return false }
        if let last = next {
            try continueManifest(after: last, isComplete: false, turn)
        } else {
            var entry: FileLedger.Entry?
            if case .written(let rows, let bytes, let sum, _) = outcome {
                entry = .init(path: Self.manifestName, rows: rows, bytes: bytes, sum: sum, written: turn.now)
            }
            manifest.end(entry)
            // An incomplete one only announces the files that follow.
            if manifest.state == .complete { works() }
        }
        return true
    }

    private func continueManifest(after path: String, isComplete: Bool, _ turn: Turn) throws {
        let page = try ledger.page(after: path, limit: Self.listedAtOnce, turn)
        let isLast = page.count < Self.listedAtOnce
        var bytes: [UInt8] = []
        for (index, entry) in page.enumerated() {
            bytes.append(json: path.isEmpty && index == 0 ? "\n    " : ",\n    ")
            let line: [String: Value] = [
                "path": .string(entry.path), "rows": .integer(entry.rows), "bytes": .integer(entry.bytes),
                "sha256": .string(entry.sum), "written": .string(InstantText.iso8601(entry.written)),
            ]
            bytes.append(contentsOf: Value.object(line).json().utf8)
        }
        if isLast { bytes.append(json: "\n  ]\n}\n") }
        let effect = turn.perform(
            FilePart(
                job: Self.manifestJob, path: Self.manifestName,
                head: path.isEmpty ? manifestHead(isComplete: isComplete, turn) : [],
                content: .bytes(bytes, rows: Int64(page.count)), isFirst: path.isEmpty, isLast: isLast,
                keepsEmpty: true, makesFolder: ledger.count == 0))
        manifest.gave(effect, last: isLast ? nil : page.last?.path)
    }

    private func manifestHead(isComplete: Bool, _ turn: Turn) -> [UInt8] {
        let cursor = samples.cursor
        let reached = min(samples.frontier, marks.oldestMark(of: samples.producer) ?? .end)
        let anchor: Value = [
            "store": Value(cursor.store), "generation": Value(cursor.generation), "sequence": .integer(reached.value),
        ]
        var head: [UInt8] = []
        head.append(json: "{\n  \"version\": 1,\n  \"complete\": ")
        head.append(json: isComplete ? "true" : "false")
        head.append(contentsOf: ",\n  \"written\": \"\(InstantText.iso8601(turn.now))\"".utf8)
        head.append(contentsOf: ",\n  \"layout\": \(layout.kept.json())".utf8)
        head.append(contentsOf: ",\n  \"anchor\": \(anchor.json())".utf8)
        head.append(json: ",\n  \"files\": [")
        return head
    }
}
