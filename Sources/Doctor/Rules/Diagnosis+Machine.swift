import HealthModel
import Protocol
import Terminal

/// The machine that the stack runs on: its disk, its clock, its load and its battery.
extension Diagnosis {
    /// None of our releases is older than 2025.
    private static let oldest = Instant(seconds: 1_735_689_600)

    var isFull: Bool { seen.freeBytes.map(DiskSpace.isFull) == true }

    var diskSpace: Finding? {
        guard let free = seen.freeBytes, let severity = DiskSpace.severity(free: free) else { return nil }
        return isFull
            ? Finding(
                severity, seen.state,
                "its disk is full: \(HumanFormat.bytes(Int(free))) left, too little to write, so nothing new is stored",
                remedy: DiskSpace.remedy
            ).asCause()
            : Finding(
                severity, seen.state, "has \(HumanFormat.bytes(Int(free))) left on its disk",
                remedy: "free some space; nothing committed is lost when it is full")
    }

    var writeAheadLogs: [Finding] {
        seen.walBytes.filter { $0.value > 256_000_000 }.sorted { $0.key < $1.key }.map { name, bytes in
            Finding(
                .warning, name, "its write-ahead log has grown to \(HumanFormat.bytes(Int(bytes)))",
                remedy: "a reader has held it open for a long time: end that reader, or restart \(name)")
        }
    }

    /// Files that processes write to but that aren't where the next start would look for them.
    var folders: [Finding] {
        seen.gone.sorted { $0.key < $1.key }.map { name, path in
            Finding(
                .error, name, "runs, but \(path) is gone: everything it has taken in is lost when it ends",
                remedy: "stop the stack and put it back, or restore a backup with 'healthbus restore BACKUP'; "
                    + "otherwise start from scratch with 'healthbus up' and import your export again")
        }
    }

    var clockBehind: Finding? {
        seen.now < Self.oldest
            ? Finding(.error, "the clock", "is years behind", remedy: "set it: days and tokens depend on it") : nil
    }

    var clockSetBack: Finding? {
        let ahead = seen.beats.values.compactMap(\.beat.lastCommit).max() ?? .epoch
        guard seen.now >= Self.oldest, ahead > seen.now + .seconds(300) else { return nil }
        return Finding(
            .warning, "the clock", "was set back: there are commits from \(InstantText.iso8601(ahead))",
            remedy: "correct it; everything continues either way")
    }

    var load: Finding? {
        guard let load = seen.load, load > 4 else { return nil }
        return Finding(
            .note, "the machine", "has a load of \(Int(load)) per processor core",
            remedy: "what is slow now may be fine later")
    }

    var battery: Finding? {
        guard let battery = seen.battery, battery < 10 else { return nil }
        return Finding(.note, "the machine", "has \(battery) % of its battery left", remedy: "charge it")
    }
}
