import FilesStage
import Foundation
import HealthModel
import Simulation
import StageKit

/// The folder of a simulated stack's files, in which writing fails now and then.
final class FilesModel: DestinationModel {
    private let folder: String
    private unowned let world: SimulatedWorld
    /// The open files of the current process.
    private var work: (life: Int, work: FilesWork)?
    /// How likely a request is to fail.
    var failureRate = 0.0
    private var isBusy = false

    init(folder: String, in world: SimulatedWorld) { (self.folder, self.world) = (folder, world) }

    func perform(_ effect: Effect, of host: SimulatedHost) {
        if work?.life != host.lives { work = (host.lives, FilesWork(folder: folder)) }
        isBusy = true
        var delay = Duration.zero
        func answer(_ outcome: FileOutcome) -> Bool {
            delay += world.time(microseconds: 500...50_000)
            world.schedule(
                .effect(host, life: host.lives, EffectResult(id: effect.id, value: outcome)), after: delay)
            return true
        }
        if world.chance(failureRate) {
            // The process's own files stay open, as on a full disk.
            _ = answer(.failed(FileProblem("no space left on the device")))
            return
        }
        work?.work.perform(effect.request, reply: answer)
    }

    let keepsWhatIsBeyond = false

    func takeIsBusy() -> Bool {
        defer { isBusy = false }
        return isBusy
    }

    /// Somebody removes everything in it.
    func forget() throws {
        guard FileManager.default.fileExists(atPath: folder) else { return }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.removeItem(atPath: folder + "/" + name)
        }
    }

    /// Somebody who copies older files over newer ones changes files that the stack then refuses to overwrite.
    func rollBack() throws -> Bool { false }

    /// The tables by path, without the list of files with their sums.
    func contents() throws -> [String: Value] {
        var contents: [String: Value] = [:]
        for case let path as String in FileManager.default.enumerator(atPath: folder) ?? .init()
        where path.hasSuffix(".csv") {
            let rows = try String(contentsOfFile: folder + "/" + path, encoding: .utf8).split(separator: "\n")
                .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
            let left = rows.first?.indices.filter { !["version", "revision"].contains(rows[0][$0]) } ?? []
            contents[path] = .array(
                rows.map { row in .array(left.filter { $0 < row.count }.map { .string(row[$0]) }) })
        }
        return contents
    }
}
