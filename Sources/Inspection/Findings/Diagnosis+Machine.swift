import HealthModel
import Protocol
import Terminal

/// The machine that the stack runs on: its disk, its clock, its load and its battery.
extension Diagnosis {
    var isFull: Bool { seen.freeBytes.map(DiskSpace.isFull) == true }

    var disk: [Finding] {
        var found: [Finding] = []
        if let free = seen.freeBytes, let severity = DiskSpace.severity(free: free) {
            found.append(
                isFull
                    ? Finding(
                        severity, seen.state,
                        "its disk is full: \(HumanFormat.bytes(Int(free))) left, too little to write, so nothing new is stored",
                        remedy: DiskSpace.remedy
                    ).asCause()
                    : Finding(
                        severity, seen.state, "has \(HumanFormat.bytes(Int(free))) left on its disk",
                        remedy: "free some space; nothing committed is lost when it is full"))
        }
        for (name, bytes) in seen.walBytes.sorted(by: { $0.key < $1.key }) where bytes > 256_000_000 {
            found.append(
                Finding(
                    .warning, name, "its write-ahead log has grown to \(HumanFormat.bytes(Int(bytes)))",
                    remedy: "a reader has held it open for a long time: end that reader, or restart \(name)"))
        }
        return found
    }

    var clock: [Finding] {
        // None of our releases is older than 2025.
        if seen.now < Instant(seconds: 1_735_689_600) {
            return [Finding(.error, "the clock", "is years behind", remedy: "set it: days and tokens depend on it")]
        }
        let ahead = seen.beats.values.compactMap(\.beat.lastCommit).max() ?? .epoch
        guard ahead > seen.now + .seconds(300) else { return [] }
        return [
            Finding(
                .warning, "the clock", "was set back: there are commits from \(InstantText.iso8601(ahead))",
                remedy: "correct it; everything continues either way")
        ]
    }

    var machine: [Finding] {
        var found: [Finding] = []
        if let load = seen.load, load > 4 {
            found.append(
                Finding(
                    .note, "the machine", "has a load of \(Int(load)) per processor core",
                    remedy: "what is slow now may be fine later"))
        }
        if let battery = seen.battery, battery < 10 {
            found.append(
                Finding(.note, "the machine", "has \(battery) % of its battery left", remedy: "charge it"))
        }
        return found
    }
}
