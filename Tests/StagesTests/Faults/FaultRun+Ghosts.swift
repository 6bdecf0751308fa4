import Changelog
import SQLite
import Simulation

/// Processes that were stopped while another took their place, and wake up later: their file's epoch must keep them from
/// writing.
extension FaultRun {
    func takeOver(_ host: SimulatedHost) throws {
        guard host.isAwake else { return }
        world.note("taken over")
        host.suspend()
        world.ghosts.append(host)
        takenOver.insert(host.name)
        try stack.takeOver(host)
    }

    /// They go on with what they were about to do.
    func wakeGhosts() { for ghost in world.ghosts { ghost.resume() } }

    /// Nothing of them is left, so that their files can be replaced.
    func endGhosts() {
        for ghost in world.ghosts { ghost.crash() }
        world.ghosts = []
    }

    func isGhost(_ host: SimulatedHost) -> Bool { !world.hosts.contains { $0 === host } }

    /// A ghost finds out when it writes, unless its disk fails before.
    func end(ghost: SimulatedHost, because error: any Error) throws {
        ghost.crash()
        world.ghosts.removeAll { $0 === ghost }
        if case ChangelogError.fenced = error { return world.note("kept from writing") }
        guard error is SQLiteError else { throw error }
    }
}
