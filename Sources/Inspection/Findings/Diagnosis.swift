import BackgroundDelivery
import Changelog
import Configuration
import DeliveryKit
import HealthModel
import Protocol
import Terminal

/// What is wrong with a running stack. Pure.
package struct Diagnosis {
    let seen: Examination

    package static func findings(_ seen: Examination) -> Findings {
        let diagnosis = Diagnosis(seen: seen)
        let found = seen.mistakes + (diagnosis.disk + diagnosis.stack).folded() + diagnosis.folders + diagnosis.clock
        // A busy machine may be why something is slow, but isn't a problem in itself.
        let isIll = found.contains { $0.severity > .note }
        return Findings(isIll ? found + diagnosis.machine : found)
    }

    private init(seen: Examination) { self.seen = seen }

    private var stack: [Finding] {
        guard !seen.held.isEmpty || seen.stack.bus.isRemote else { return nothingRuns }
        return seen.beats.isEmpty
            ? silence
            : supervisor + leftOver + seen.stores + seen.stack.instances.flatMap { instance($0) } + device + seen.doors
                + seen.refusedDevices + data
                + alerts
    }

    private var nothingRuns: [Finding] {
        if seen.isFile { return [.notAFolder(seen.state)] }
        let stopped = Finding(.error, seen.state, "no stack is running in it", remedy: "start it with \(seen.start)")
        return [stopped] + seen.stores
    }

    /// Processes exist, but none sends a heartbeat.
    private var silence: [Finding] {
        let hub = seen.stack.only(.hub)?.name ?? "hub"
        let isHeld = seen.held.contains(hub)
        return [
            isHeld
                ? Finding(
                    .error, hub, "runs, but isn't passing messages on",
                    remedy: Finding.restart(hub, isSupervised: false)
                        + "; if that doesn't help, look at 'healthbus logs \(hub)'")
                : Finding(
                    .error, hub, "doesn't run: no process can reach another",
                    remedy: "start the stack, or the hub alone with 'healthbus run \(hub)'")
        ]
    }

    /// A supervisor that hangs doesn't look after any process.
    private var supervisor: [Finding] {
        guard seen.held.contains("supervisor"), !Readiness.isUp(seen.beats["supervisor"]) else { return [] }
        return [
            Finding(
                .error, "supervisor", "runs, but isn't heard from: nothing that ends is restarted",
                remedy: Finding.restart("supervisor", isSupervised: false))
        ]
    }

    // MARK: Each instance

    private func instance(_ instance: StackConfiguration.Instance) -> [Finding] {
        let name = instance.name
        let supervised = supervisedProcess(name)
        guard let (beat, age) = seen.beats[name], age < Readiness.patience else {
            return [absent(name, supervised).asCause(because: isFull ? [seen.state] : [])]
        }
        var found: [Finding] = []
        if beat.phase != .ready {
            found.append(
                Finding(
                    .error, name, "isn't ready (\(beat.phase.rawValue))",
                    remedy: "wait a moment; then look at 'healthbus logs \(name)'"
                ).asCause())
        }
        // A process that has run for an hour since isn't failing any more.
        let isNewlyStarted = beat.started.map { seen.now - $0 < .seconds(3600) } ?? true
        if let supervised, supervised.restarts > 2, isNewlyStarted {
            let last = supervised.lastExit.map { ", the last time after \($0)" } ?? ""
            // A process killed by a signal can't log the reason; the supervisor logs it instead.
            let isKilled = supervised.lastExit?.hasPrefix("signal ") == true
            let log = isKilled ? "'healthbus logs supervisor'" : "'healthbus logs \(name) --level error'"
            found.append(
                Finding(
                    .warning, name, "was restarted \(supervised.restarts) times\(last)",
                    remedy: "\(log) says why it ended"))
        }
        if let pid = supervised?.pid, pid != beat.pid {
            found.append(
                Finding(
                    .warning, name,
                    "is process \(beat.pid), run by hand; the supervisor's own, process \(pid), waits for its place",
                    remedy: "nothing if that is intended; 'kill \(beat.pid)' ends it; then the supervisor's takes over")
            )
        }
        // What can't be read of the configuration can't be compared.
        if let told = beat.configuration, told != instance.fingerprint, seen.mistakes.isEmpty {
            found.append(
                Finding(
                    .warning, name, "runs with another configuration or version than the one on disk",
                    remedy: Self.restart))
        }
        return found + progress(beat, name) + work(beat, name) + doubles(beat, name)
    }

    /// What an instance's plugin declares about where it delivers; the usual for one that doesn't.
    func destination(_ name: String) -> DestinationDeclaration {
        seen.stack.instance(name)?.manifest.destination ?? .init(.backend)
    }

    private func work(_ beat: Heartbeat, _ name: String) -> [Finding] {
        let stage = beat.stage
        let uploader = beat.uploader
        let backend = seen.stack.only(.backend)?.name
        let destination = destination(name)
        let word = destination.word
        var found = BackendFindings.of(beat, name, backend: backend, destination)
        found += ProofFindings.of(uploader?.proof, name, word: word, now: seen.now)
        if uploader?.paused == true {
            found.append(
                Finding(
                    .error, name, "delivers nothing: \(stage.blocked ?? "it is paused")",
                    remedy: "fix that; it retries every 30 s, and nothing is lost"
                ).asCause(because: [backend]))
        } else if uploader?.path?.isSatisfied == false, stage.blocked != nil {
            // A destination on this machine needs no path, and isn't blocked without one.
            found.append(
                Finding(
                    .note, name, "has no network path", remedy: "nothing: it continues as soon as there is one"))
        }
        if let letters = uploader?.deadLetters, letters > 0 {
            found.append(
                Finding(
                    .warning, name, "the \(word) refused \(letters) element\(letters == 1 ? "" : "s") for good",
                    remedy:
                        "'healthbus dead-letters list' says why; 'healthbus dead-letters retry --all' sends them again")
            )
        }
        if let conflicts = uploader?.conflicts, conflicts > 0 {
            found.append(
                Finding(
                    .warning, name,
                    "the \(word) has \(conflicts) element\(conflicts == 1 ? "" : "s") in the version sent to it, but with other content",
                    remedy: "'healthbus conflicts' lists them, and says what to do"))
        }
        if let days = beat.handler?.failedDays, days > 0 {
            let told = seen.alerts.first { $0.from == name && $0.kind == Alert.Kind.failedDays.rawValue }
            found.append(
                Finding(
                    .error, name,
                    "couldn't compute \(days) day\(days == 1 ? "" : "s"); their figures stay as they were"
                        + (told.map { ". \($0.text)" } ?? ""),
                    remedy: told?.remedy ?? "the log's day.failed events give the reasons: 'healthbus logs \(name)'"))
        }
        found += (beat.consolidator?.collisions ?? []).map(collision)
        let missing = beat.consolidator?.missing ?? []
        if let days = beat.consolidator?.openDays, days > 0, !missing.isEmpty {
            found.append(
                Finding(
                    .warning, name,
                    "\(days) past day\(days == 1 ? "" : "s") can't turn final without \(missing.joined(separator: ", "))",
                    remedy: "see to \(missing.joined(separator: ", ")) first"
                ).because(of: missing.count == 1 ? missing : []))
        }
        if let malformed = stage.messages?.malformed, malformed > 0 {
            found.append(
                Finding(
                    .note, name,
                    malformed == 1
                        ? "something arrived on the bus that isn't a message"
                        : "\(malformed) things arrived on the bus that aren't messages",
                    remedy: "find out who else writes to the bus: 'healthbus tap'"))
        }
        if let foreign = stage.messages?.foreign, foreign > 0 {
            found.append(
                Finding(
                    .warning, name,
                    "\(HumanFormat.count(foreign, "message")) came from a sender with no right to send that; dropped",
                    remedy: "the log says who it is: 'healthbus logs \(name)'; on a sealed bus give it another key"))
        }
        for (place, why) in stage.refusals.sorted(by: { $0.key < $1.key }) {
            found.append(
                Finding(
                    .error, name,
                    "\(place.split(separator: "/").first ?? "") doesn't answer its requests: \(why)",
                    remedy: "run both from the same release"))
        }
        if let following = beat.ingest?.following, let problem = following.problem {
            found.append(
                Finding(
                    problem.isRefusal ? .error : .warning, name,
                    "can't follow \(following.address) at present: \(problem.what)", remedy: problem.remedy))
        }
        if let inbox = beat.observer?.inbox, let problem = inbox.problem {
            found.append(
                Finding(
                    .error, name, "takes no files from its inbox folder \(inbox.path)",
                    remedy: problem + "; then it continues automatically"))
        }
        for (consumer, why) in (beat.observer?.refused ?? [:]).sorted(by: { $0.key < $1.key }) {
            found.append(
                Finding(
                    .error, consumer, "may not be woken in the background", remedy: why))
        }
        return found
    }

    // MARK: All together

    private var data: [Finding] {
        let observer = seen.stack.only(.observer)?.name ?? "observer"
        // The reason may name a file, and what the doctor says is passed on to others.
        let imports = seen.failedImports.map { row in
            Finding(
                .note, observer, "import \(row.id) failed, and that person has had none since",
                remedy: "'healthbus imports list' shows the reason")
        }
        var found = seen.formerZones.map(\.finding) + imports
        if seen.conflicts > 0 {
            found.append(
                Finding(
                    .note, observer,
                    "has set aside \(HumanFormat.count(Int(seen.conflicts), "input")) whose content contradicts a stored sample",
                    remedy: "'healthbus conflicts' lists them, and says what to do"))
        }
        let others = seen.quarantined - seen.conflicts
        guard others > 0 else { return found }
        return found + [
            Finding(
                .note, observer,
                "has quarantined \(HumanFormat.count(Int(others), "input")) that can't be true or can't be understood",
                remedy: "'healthbus quarantine list' shows the reasons")
        ]
    }

    private func isNews(_ kind: String) -> Bool { Alert.Kind(rawValue: kind)?.isNews == true }

    private var alerts: [Finding] {
        let backend = seen.stack.only(.backend)?.name
        let uploaders = seen.stack.instances.filter { $0.manifest.kind == .uploader }.map(\.name)
        let cantFollow = seen.beats.values.contains { $0.beat.ingest?.following?.problem != nil }
        // News isn't a finding. Failed days and dead letters are already reported with their number, and a stack that can't be followed is
        // already reported with the reason.
        let others = seen.alerts.filter {
            let details = seen.beats[$0.from]?.beat
            return switch $0.kind {
            case Alert.Kind.failedDays.rawValue: details?.handler?.failedDays ?? 0 == 0
            case Alert.Kind.deadLetters.rawValue: details?.uploader?.deadLetters ?? 0 == 0
            default: !isNews($0.kind) && !(cantFollow && $0.subject.hasPrefix("following "))
            }
        }
        return others.map { alert in
            let finding = Finding(.warning, alert.from, alert.text, remedy: alert.remedy)
            if uploaders.contains(alert.from), ["delivery", "acceptance"].contains(alert.subject) {
                return finding.because(of: [backend, alert.from])
            }
            // A sync fails if any consumer doesn't take part.
            let all = [backend] + uploaders + seen.stack.instances.map(\.name)
            return alert.subject == "rounds" ? finding.because(of: all) : finding
        }
    }
}
