import Configuration
import Doctor
import Foundation
import HTTP
import Inspection
import Logging

/// Finds, before any process is started, what would keep a stack from starting: processes that hold its folders or its
/// ports.
struct StartGuard {
    let stack: Stack
    /// The address at which `up` itself will answer questions; nil for none.
    let monitoring: Endpoint?

    /// A port that a process of the stack needs.
    private struct Need {
        var instance: String
        var endpoint: Endpoint
        /// The setting for choosing a different port.
        var otherwise: String
    }

    /// - Throws: `Failure` that names everything that is taken, who holds it, and the ways out.
    func check() throws {
        try checkLocks()
        let needs = try needs()
        let taken = needs.filter { Self.isTaken($0.endpoint) }
        guard !taken.isEmpty else { return }
        let holders = taken.map { PortHolder(ofPort: $0.endpoint.port) }
        let what = zip(taken, holders).map { need, holder in
            "'\(need.instance)' can't start: \(need.endpoint) is taken by \(holder?.description ?? "another program")"
        }
        var ways: [String] = []
        var names: Set<String> = []
        for state in holders.compactMap({ $0?.state }) where names.insert(state).inserted {
            ways.append("stop the other stack with 'healthbus stop --state \(Advice.quoted(state))'")
        }
        if ways.isEmpty { ways.append("stop that program") }
        var free: [Int] = []
        let own = needs.map(\.endpoint.port)
        for need in taken { free.append(Self.freePort(above: need.endpoint, besides: own + free)) }
        ways.append(
            "or choose other ports, for example with "
                + zip(taken, free).map { "\($0.otherwise)\($1)" }.joined(separator: " "))
        throw Failure(what.joined(separator: "\n           "), hint: ways.joined(separator: ", "))
    }

    /// Checks whether an instance that somebody runs by hand holds its folder.
    private func checkLocks() throws {
        for name in stack.names {
            let folder = stack.state.instance(name)
            // A process that was killed a moment ago may still be ending.
            guard InstanceLock.isHeld(folder: folder), try InstanceLock.take(folder: folder, waiting: 1) == nil else {
                continue
            }
            let holder = InstanceLock.holder(folder: folder)
            throw Failure(
                "'\(name)' can't start: it is already running in \(stack.state.path), started by hand"
                    + (holder.map { " (process \($0))" } ?? ""),
                hint: "end that process" + (holder.map { " (kill \($0))" } ?? "") + ", and start again")
        }
    }

    private func needs() throws -> [Need] {
        var needs: [Need] = []
        for server in ServerPort.allCases {
            guard let instance = stack.configuration.only(server.kind) else { continue }
            let endpoint = try server.endpoint(of: instance)
            guard endpoint.port != server.movablePort else { continue }
            needs.append(Need(instance: instance.name, endpoint: endpoint, otherwise: server.variable + "="))
        }
        if let monitoring { needs.append(Need(instance: "up", endpoint: monitoring, otherwise: "--metrics ")) }
        return needs
    }

    /// Anything else that is wrong with an address is reported by the process that uses it.
    private static func isTaken(_ endpoint: Endpoint) -> Bool {
        guard endpoint.port != 0 else { return false }
        do throws(HTTPError) {
            try ListeningSocket.check(host: endpoint.host, port: endpoint.port)
            return false
        } catch { return error.kind == .addressInUse }
    }

    private static func freePort(above endpoint: Endpoint, besides chosen: [Int]) -> Int {
        // Port 0 means any free port.
        (endpoint.port + 1..<min(65_536, endpoint.port + 200)).first { port in
            !chosen.contains(port) && !isTaken(Endpoint(host: endpoint.host, port: port))
        } ?? 0
    }
}

extension Stack {
    /// Why another `up` can't use its folder.
    package var occupied: Failure {
        let holder = InstanceLock.holder(folder: supervisorFolder).map { " (process \($0))" } ?? ""
        return Failure(
            "a stack is already running in \(state.path)\(holder)",
            hint: "use it ('healthbus status'), stop it ('healthbus stop'), or start another with --state")
    }
}

extension FormerZone {
    /// Returns the notices for a stack's start, after recording what is known about a lost store and forgetting what is
    /// settled.
    /// - Parameter zone: the zone in which a new user's days begin.
    static func atStart(of stack: Stack, beginning zone: ZoneChoice.Beginning) throws -> [String] {
        let layer = StackLayer(stack.state)
        let isLost = stack.state.lostObserver(of: stack.configuration) != nil
        let kept = isLost ? stack.state.keptZones(of: stack.configuration) : [:]
        for (user, former) in kept { try layer.setFormerZone(former, of: user) }
        let changed =
            try isLost
            ? layer.formerZones().sorted { $0.key < $1.key }.map {
                FormerZone(user: $0.key, former: $0.value, now: zone.name)
            } : all(of: stack, stack.reader(foundSilent: { _ in }))
        for entry in changed where entry.now == entry.former { try layer.setFormerZone(nil, of: entry.user) }
        let notices = changed.filter { $0.now != $0.former }.map(\.notice)
        guard isLost, kept.isEmpty else { return notices }
        return [
            "zone   \(zone.name) now (\(zone.by)): the observer's store is gone, and the zones set by hand with it. "
                + "'healthbus zone set ZONE' sets another"
        ]
    }
}
