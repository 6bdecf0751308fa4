import CFaultyDisk
import Foundation

/// The disk under one simulation's folder, which fails when it is asked to.
final class FaultyDisk {
    enum Failure: Int32, CaseIterable {
        case full = 1
        /// A write is cut off half way.
        case short, write, sync, read
        /// The process ends within a write.
        case dead
    }

    private let folder: String
    private var liars: Set<String> = []

    init(folder: String) throws {
        guard faulty_disk_install() == 0 else { throw CocoaError(.featureUnsupported) }
        self.folder = folder
        faulty_disk_watch(folder)
    }

    deinit { faulty_disk_forget(folder) }

    /// - Parameter after: how many operations still succeed.
    func fail(_ path: String, _ failure: Failure, after: Int, times: Int) {
        faulty_disk_fail(path, failure.rawValue, Int32(after), Int32(times))
    }

    func heal(_ path: String) { faulty_disk_heal(path) }

    /// Says from now on that everything is durable when it isn't.
    func lie(about path: String) {
        liars.insert(path)
        faulty_disk_lie(path, 1)
    }

    /// Ends a process without a trace in its file.
    func kill(_ path: String, _ close: () -> Void) {
        faulty_disk_freeze(path)
        close()
        faulty_disk_thaw(path)
    }

    /// What no sync has made durable is lost, in part. Nothing may have the file open.
    /// - Returns: whether anything is lost that the disk said was durable.
    func losePower(_ path: String, seed: UInt64) -> Bool {
        let lost = faulty_disk_lose_power(path, seed)
        return liars.remove(path) != nil && lost > 0
    }
}
