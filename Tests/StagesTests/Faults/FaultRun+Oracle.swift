import Foundation
import HealthModel
import Protocol
import SQLite
import Simulation
import StageKit

/// What is seen while it runs, and what must be true in the end.
extension FaultRun {
    /// What a stage is doing, with what is wrong at the time.
    func note(_ beat: Heartbeat) {
        var doing = beat.instance
        if let uploader = beat.uploader {
            doing += " \(uploader.blocked == nil ? "" : "blocked ")\(uploader.held > 0 ? "held " : "")"
        }
        if let repair = beat.stage.mending { doing += " \(repair.action) \(repair.state)" }
        let wrong = Set(active.map(\.family)).map(\.rawValue).sorted()
        for (index, one) in wrong.enumerated() {
            for other in wrong[index...] { states.insert("\(doing) \(one) \(other)") }
        }
    }

    /// What was refused, and isn't deleted.
    func letters() throws -> Set<FakeBackend.Key> {
        var letters: Set<FakeBackend.Key> = []
        for host in world.hosts where host.heartbeat?.uploader != nil {
            guard let reader = host.reader else { continue }
            try reader.prepare("SELECT user, id FROM dead_letters").forEachRow { row in
                let key = FakeBackend.Key(user: row.string(0), kind: "samples", id: row.string(1))
                let isExpected = host.name == "uploader" && !letters.contains(key)
                if !isExpected { problems.append("\(host.name) has a dead letter too many: \(key.id)") }
                if !stack.backend.isDeleted(key) { letters.insert(key) }
            }
        }
        return letters
    }

    /// Where each process's changelog and cursors are.
    var positions: String {
        get throws {
            var lines = ""
            for host in world.hosts {
                lines += "\n\(host.name): " + (host.heartbeat?.head.map { "\($0)" } ?? "not running")
                guard let reader = host.reader else { continue }
                if host.heartbeat?.uploader != nil {
                    try reader.prepare("SELECT report FROM proofs").forEachRow {
                        lines += "\n    proof: \($0.string(0))"
                    }
                }
                try reader.prepare("SELECT name, value FROM cursors").forEachRow { row in
                    lines += "\n    \(row.string(0)): \(row.string(1))"
                }
            }
            return lines
        }
    }

    func compare(with calm: Outcome) throws {
        problems += calm.problems
        try compare(delivered, with: calm.backend, at: "uploader", keepsWhatIsBeyond: true)
        if lost.isEmpty, !didDestinationFail, stack.backend.acceptedTwice > 0 {
            problems.append("\(stack.backend.acceptedTwice) elements were accepted as new twice")
        }
        if isTraced { print(try positions) }
        let (letters, expected) = (try letters(), calm.letters.filter { !stack.backend.isDeleted($0) })
        // One of a sample that is lost stays until a person drops it.
        let isExplained = haveForgotten ? letters.isSuperset(of: expected) : letters == expected
        if !isExplained { problems.append("dead letters: \(letters), not \(expected)") }
        try compare(
            shown(), with: calm.other, at: other.plugin.name, keepsWhatIsBeyond: destination.keepsWhatIsBeyond)
    }

    /// How many samples are deleted at a destination, and not here, according to the last comparison.
    private func deletedLater(at instance: String) throws -> Int64 {
        guard let reader = world.hosts.first(where: { $0.name == instance })?.reader else { return 0 }
        return try reader.prepare("SELECT report FROM proofs").rows { try Value(json: Array($0.string(0).utf8)) }
            .reduce(0) { $0 + ($1["lists"]["samples"]["findings"]["deletedLater"]["count"].int ?? 0) }
    }

    /// What is compared of an element.
    private func members(of element: Value) -> [String: Value] {
        guard var members = element.object else { return ["": element] }
        if lost.contains(stack.observer.name) {
            // An export's times have no fractions.
            for (name, value) in members {
                guard let text = value.string, let time = InstantText.parse(text) else { continue }
                members[name] = .string(InstantText.iso8601(Instant(seconds: time.flooredSecond)))
            }
        }
        return members
    }

    /// - Parameter instance: the process that delivers there.
    func compare(
        _ found: [String: Value], with expected: [String: Value], at instance: String, keepsWhatIsBeyond: Bool
    ) throws {
        var different: [String] = []
        // A lost store may have known a deletion that nobody sends again: it isn't undone, and is said to be missing.
        let undone = haveForgotten ? expected.keys.filter { $0.hasPrefix("samples ") && found[$0] == nil } : []
        let saidDeleted = try undone.isEmpty ? 0 : deletedLater(at: instance)
        if undone.count != saidDeleted { different += undone.map { "\($0) is missing, \(saidDeleted) said deleted" } }
        for (name, content) in expected where !undone.contains(name) {
            guard let other = found[name] else {
                different.append("\(name) is missing")
                continue
            }
            let (here, there) = (members(of: other), members(of: content))
            // How often a day was revised depends on when its data arrived; and a sample that an export brought first,
            // since what the phone sent before was lost, is delivered without the phone's UUID, and to the second.
            let ignored: Set =
                lost.contains(stack.observer.name) ? ["revision", "healthkitUUID", "healthkit_uuid"] : ["revision"]
            let names = Set(here.keys).union(there.keys).filter { !ignored.contains($0) && here[$0] != there[$0] }
            if !names.isEmpty {
                let shown = names.sorted().map {
                    "\($0) " + (here[$0]?.json() ?? "nothing") + " not " + (there[$0]?.json() ?? "nothing")
                }
                different.append("\(name): \(shown.joined(separator: ", "))")
            }
        }
        let beyond = found.keys.filter { expected[$0] == nil }
        // A sample was never sent, or was deleted, whatever was lost: phones delete again, unless they forget.
        let invented =
            keepsWhatIsBeyond && !lost.isEmpty ? beyond.filter { !haveForgotten && $0.hasPrefix("samples ") } : beyond
        different += invented.map { "\($0) was invented" }
        if !different.isEmpty {
            problems.append("\(different.count) differ at \(instance): \(different.sorted().prefix(2))")
        }
        guard keepsWhatIsBeyond else { return }
        // A store that was lost doesn't know what it has delivered. Since another stack may have, it is said, and stays.
        let proof = world.hosts.first { $0.name == instance }?.heartbeat?.uploader?.proof
        if !lost.isEmpty, Int64(beyond.count) != proof?.beyond ?? 0 {
            problems.append("\(beyond.count) elements at \(instance) are beyond, \(proof?.beyond ?? 0) are said to be")
        }
        if !beyond.isEmpty { counts["said to be beyond", default: 0] += 1 }
    }
}
