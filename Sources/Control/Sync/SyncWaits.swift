import BackgroundDelivery
import Client
import Configuration
import HealthModel
import Inspection
import Protocol

extension SyncClient {
    /// A process without which nothing is known to be delivered, and that isn't heard.
    package struct Silence: Sendable, Equatable {
        package var name: String
        /// Whether a person stopped it, so that waiting for it is in vain.
        package var isStopped: Bool

        package init(name: String, isStopped: Bool) { (self.name, self.isStopped) = (name, isStopped) }

        /// What happened to it, and what to do.
        package var text: String {
            isStopped
                ? "\(name) was stopped by hand: 'healthbus start \(name)' starts it"
                : "\(name) isn't heard: 'healthbus doctor' says what to do"
        }
    }

    /// Seconds without a heartbeat after which a process counts as silent: each is asked twice a second, and answers if
    /// it can.
    static let silence = 3.0

    /// The processes that a person has stopped, as the supervisor reports. Pure.
    static func stopped(_ beats: Beats) -> Set<String> {
        Set(beats["supervisor"]?.beat.supervisor?.stopped ?? [])
    }

    /// Which processes on the way to the destinations aren't heard; of the stack's own backends, only those that a person
    /// stopped while deliveries to them fail. Pure.
    /// - Parameter metrics: the handlers that the sync concerns.
    package static func silences(_ roles: StackRoles, metrics: [String], _ beats: Beats) -> [Silence] {
        let stopped = stopped(beats)
        let names = [roles.observer] + metrics + [roles.consolidator].compactMap { $0 } + roles.uploaders
        let isHindered = roles.uploaders.contains { name in
            let reported = beats[name]?.beat.uploader
            return reported?.blocked != nil || reported?.backend.why != nil
        }
        return names.filter { name in
            guard let heard = beats[name], Readiness.isUp(heard) else { return true }
            return heard.age >= silence
        }.map { Silence(name: $0, isStopped: stopped.contains($0)) }
            + roles.backends.filter { isHindered && stopped.contains($0) }.map { Silence(name: $0, isStopped: true) }
    }

    /// Whether waiting is in vain: what a person stopped won't start by itself, and nothing else is to come, or nothing
    /// can. Pure.
    package static func isVain(_ silences: [Silence], _ waits: [String], _ roles: StackRoles) -> Bool {
        let stopped = silences.filter(\.isStopped)
        return stopped.contains { $0.name == roles.observer || roles.backends.contains($0.name) }
            || !stopped.isEmpty && waits == stopped.map(\.text)
    }

    /// What is still to come; empty when everything is delivered. What isn't heard isn't delivered. Pure.
    package static func waits(
        _ manual: DebouncerDetails.Manual?, _ id: String, _ beats: Beats, _ roles: StackRoles,
        silences: [Silence] = []
    ) -> [String] {
        let silent = Set(silences.map(\.name))
        return silences.map(\.text) + waits(manual, id, beats, roles, silent)
    }

    private static func waits(
        _ manual: DebouncerDetails.Manual?, _ id: String, _ beats: Beats, _ roles: StackRoles, _ silent: Set<String>
    ) -> [String] {
        guard let manual, manual.id == id else { return ["the debouncer started over: try again"] }
        guard let result = manual.result else {
            let waiting = manual.waiting ?? []
            if !waiting.isEmpty, silent.isSuperset(of: waiting) { return [] }
            let names =
                waiting.isEmpty
                ? "handlers and uploader" : waiting.filter { !silent.contains($0) }.joined(separator: ", ")
            return ["\(names): working through what was released to them"]
        }
        let failed = result.failed.filter { !silent.contains($0.key) }
        if !failed.isEmpty { return reported(failed) }
        let observer = roles.observer
        let least = roles.handlers.filter { !silent.contains($0) }.compactMap { beats[$0]?.beat.frontier[observer] }
            .min()
        var waits: [String] = []
        if let consolidator = roles.consolidator, !silent.contains(consolidator),
            let covered = beats[consolidator]?.beat.frontier[observer], let least, covered < least
        {
            waits.append("\(consolidator): figures to take in")
        }
        for uploader in roles.uploaders where !silent.contains(uploader) {
            let frontier = beats[uploader]?.beat.frontier ?? [:]
            let late = roles.documents.contains { name in
                guard let done = frontier[name], let head = beats[name]?.beat.head?.sequence else { return false }
                return done < head
            }
            if late { waits.append("\(uploader): days and events to deliver") }
            // The handlers have consumed what was released. The uploader must do so too, whatever it has to deliver
            // again.
            if let least, let done = frontier[observer], done < least, beats[uploader]?.beat.stage.consumed == nil {
                waits.append("\(uploader): samples to deliver")
            }
        }
        return waits
    }
}

/// Whether changes wait until a phone's system delivers them, which no command can hurry, or move on as soon as they
/// arrive, as on a server by default. Pure.
package enum PhoneRule {
    /// - Parameter device: what is known about the phone; the usual state if nothing is known.
    package static func isPhone(_ stack: StackConfiguration, _ device: DeviceState?) -> Bool {
        if let device, device != DeviceState() { return true }
        let observer = stack.only(.observer)?.configuration["delivery"] ?? .null
        let debouncer = stack.only(.debouncer)?.configuration ?? .null
        let floor = observer["floor"].string ?? "immediate"
        return floor != "immediate" || observer["floors"].object?.isEmpty == false
            || (observer["wakesPerHour"].int ?? 0) > 0 || debouncer["frequencies"].object?.isEmpty == false
    }
}
