import Doctor
import Foundation
import HealthModel
import Inspection
import Protocol
import SQLite
import Simulation

/// What `doctor` says: nothing if all is well, and something while an obligation can't be met.
extension FaultRun {
    /// Now that all is well, nothing may be said to be wrong but what the backend refuses.
    func askDoctor() {
        var seen = Examination(stack.configuration, state: "/s", now: world.now, beats: [:])
        for host in world.hosts {
            if let beat = host.heartbeat { seen.beats[host.name] = (beat, 0) }
        }
        seen.held = Set(world.hosts.map(\.name))
        let found = Self.serious(seen).filter { seen.beats[$0.subject] != nil }
        for finding in found where !isPoison(finding) && !isAboutLoss(finding) {
            problems.append("doctor says: \(finding.subject) \(finding.what)")
        }
        if !found.contains(where: isPoison), world.hosts.contains(where: { $0.heartbeat?.handler?.failedDays ?? 0 > 0 })
        {
            problems.append("doctor doesn't say that a day can't be computed")
        }
    }

    /// What a destination still has of what nobody sends again.
    private func isAboutLoss(_ finding: Finding) -> Bool {
        haveForgotten && finding.what.contains("that this stack doesn't have")
    }

    /// The backend has lost everything, and something that only a person can change is in the way for hours. As long as
    /// the backend lacks anything, somebody who asks must hear of it.
    func stayBroken() throws {
        let owed = delivered.count
        stack.replaceBackend()
        let last = world.hosts.count - 1
        // Mostly what delivers: nobody else can deliver in its place.
        let uploader = world.hosts.firstIndex { $0.name == "uploader" } ?? 0
        func host() -> Int { world.pick(0...2) == 0 ? world.pick(0...last) : uploader }
        let troubles: [Fault.Mishap] = [
            .noToken, .stop(host()), .cut(host(), host()), .disk(host(), .full, after: world.pick(0...9), times: -1),
        ]
        let trouble = Fault(at: 0, mishap: troubles[world.pick(0...troubles.count - 1)])
        active = [trouble]
        try begin(trouble)
        // The daily comparison shows what is missing.
        world.wallOffset += .seconds(25 * 3600)
        try world.run(for: .seconds(300))
        world.note("trouble that lasts")
        if delivered.count < owed {
            world.note("stuck for long")
            if try findings.allSatisfy(isPoison) { problems.append("doctor says nothing, although \(trouble)") }
        }
        active = []
        try end(trouble)
        try world.run(for: .seconds(60))
        if let stuck = try stack.runUntilIdle(within: .seconds(900)) {
            problems.append("stuck after \(trouble): \(stuck)")
        }
        askDoctor()
    }

    private static func serious(_ seen: Examination) -> [Finding] {
        Diagnosis.findings(seen).list.filter { $0.severity > .note && $0.kind != .deadLetters }
    }

    /// What somebody finds who asks now, and looks twice.
    private var findings: [Finding] {
        get throws {
            let earlier = heard
            try world.run(for: .milliseconds(1500))
            var seen = Examination(stack.configuration, state: "/s", now: world.now, beats: heard)
            seen.earlier = earlier
            seen.held = Set(world.hosts.filter(\.isRunning).map(\.name))
            for host in world.hosts {
                guard let reader = host.reader else { continue }
                let rows = try reader.prepare(
                    "SELECT body FROM changes WHERE topic GLOB ? AND body IS NOT NULL"
                ).with(Alert.topicPrefix + "*").rows { try CBORDecoder.decode($0.bytes(0)) }
                seen.alerts += rows.compactMap { $0.read(RaisedAlert.self) }
                    .map { (host.name, $0.kind, $0.subject, $0.text, $0.remedy) }
            }
            return Self.serious(seen)
        }
    }

    private var heard: Beats {
        beats.compactMapValues { message, at in
            Heartbeat(message).map { ($0, (world.monotonic - at).seconds) }
        }
    }
}
