import Client
import Clocks
import Configuration
import Foundation
import HealthModel
import Inspection
import Logging
import Synchronization

extension StackRunner {
    /// The least number of seconds between checks of whether everything is done.
    private static let lookInterval = 0.05
    /// The time before an uploader is asked again to compare its backend.
    private static let comparisonSpacing = Duration.seconds(3)

    func startAccompanying(_ client: StackClient, _ running: Running) {
        Thread.begin("accompany") { [self] in
            do { try accompany(client, running) } catch {
                state.withLock { $0.failure = error as? Failure ?? Failure("\(error)") }
                running.stop()
            }
        }
    }

    /// Runs beside the supervisor: hands over the files to import, and checks whether the stack is idle.
    private func accompany(_ client: StackClient, _ running: Running) throws {
        guard !options.imports.isEmpty || options.untilIdle || whenIdle != nil else { return }
        let imports = ImportClient(client: client, observer: stack.observer, hub: stack.hub)
        for path in options.imports {
            let outcome = try imports.run(
                path, user: options.user, options: .init(mixesMadeUp: options.mixesMadeUp), within: 60)
            state.withLock { $0.outcome.imports.append(outcome) }
            if outcome.report == nil {
                var failure = Failure("\(path) wasn't imported: ", said: outcome.problem ?? "")
                failure.hint = (failure.hint.map { $0 + "; " } ?? "") + "the stack and its data are unchanged"
                throw failure
            }
        }
        let closedHead = state.withLock { $0.outcome.imports.map(\.head).max() }
        var watch = IdleWatch(roles: .init(of: stack.configuration), closedHead: closedHead ?? .beginning)
        var heard = 0
        var nextComparison = MonotonicTime.distantPast
        while true {
            // During an import heartbeats arrive by the dozen, and nearly all of them say that there is more to come.
            Thread.sleep(forTimeInterval: Self.lookInterval)
            client.wait(forHeartbeatAfter: &heard, until: Date(timeIntervalSinceNow: 0.25))
            // The supervisor reports an instance that can't start; until all have been ready, nothing is reported as
            // done.
            let stopped = running.director.stopped
            let notReady = stack.names.filter { name in
                !stopped.contains(name) && !state.withLock { $0.ready.contains(name) }
            }
            if notReady.isEmpty, let name = stopped.min() {
                let what = stack.advice.addressed("'\(name)' is stopped; 'healthbus start \(name)' starts it")
                return block(what, running)
            }
            switch watch.judge(client.heartbeats, notReady: notReady, at: MonotonicClock.now) {
            case .waiting:
                guard !watch.uncompared.isEmpty, MonotonicClock.now >= nextComparison else { continue }
                BackendCheckClient(uploaders: watch.uncompared, sends: false).ask(client, within: 1)
                nextComparison = MonotonicClock.now + Self.comparisonSpacing
            case .blocked(let what): return block(what, running)
            case .idle:
                let outcome = state.withLock { state in
                    state.outcome.isIdle = true
                    state.outcome.trust = TrustedDestinations(
                        stack.destinations.map(\.name), client.heartbeats)
                    return state.outcome
                }
                try whenIdle?(outcome)
                if options.untilIdle { running.stop() }
                return
            }
        }
    }

    private func block(_ what: String, _ running: Running) {
        state.withLock { $0.outcome.blocked = what }
        if options.untilIdle { running.stop() } else { say("blocked: \(what)") }
    }
}
