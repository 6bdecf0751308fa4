import Foundation
import Glibc
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// If a running stack's files are removed or damaged, it reports this, stops, and doesn't overwrite what is left.
    @Suite struct LostStateTests {
        @Test(arguments: ["", "/observer", "/steps/state.sqlite"])
        func aFolderThatIsRemovedStopsTheStack(_ gone: String) async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                try FileManager.default.moveItem(atPath: stack.state + gone, toPath: stack.path("aside"))
                let ended = try await up.ended(within: 60)
                #expect(ended.exit == .code(1), "\(ended)")
                #expect(
                    ended.error.contains("\(stack.state)\(gone) was removed while the stack ran"),
                    "\(ended.error.suffix(1500))")
                #expect(stack.processes.isEmpty)
                // Once the files are back, the stack continues.
                try? FileManager.default.removeItem(atPath: stack.state + gone)
                try FileManager.default.moveItem(atPath: stack.path("aside"), toPath: stack.state + gone)
                try await stack.interrupt(try await stack.upAndReady())
            }
        }

        /// If the observer's store is lost, a person's zone is lost with it, and that person's days would move without
        /// warning.
        @Test func aLostZoneIsAskedForUntilItIsSet() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "3", "--seed", "4")
                let first = try await stack.up("--import", export, "--until-idle").ended(within: 120)
                #expect(first.exit == .code(0), "\(first.error.suffix(2000))")
                try FileManager.default.moveItem(atPath: stack.state + "/observer", toPath: stack.path("aside"))
                let advice = "'healthbus zone set Europe/Berlin --state \(stack.state)'"
                let stopped = try await stack.onState("doctor")
                #expect(stopped.exit == .code(1) && stopped.output.contains(advice), "\(stopped.output)")
                // The second start also reports the lost zone, although only the first one could still read it.
                for start in 1...2 {
                    let up = try await stack.start(
                        ["up", "--state", stack.state], environment: ["HEALTHBUS_ZONE": "Asia/Tokyo"])
                    try await until("all ready: \(up.error)") { up.error.contains("processes are ready") }
                    #expect(
                        up.error.contains("zone   Asia/Tokyo now") && up.error.contains(advice),
                        "start \(start): \(up.error)")
                    let doctor = try await stack.onState("doctor")
                    #expect(
                        doctor.exit == .code(1) && doctor.output.contains("zone: is Asia/Tokyo since")
                            && doctor.output.contains(advice), "start \(start): \(doctor.output)")
                    if start == 2 {
                        let words = advice.dropFirst().dropLast().split(separator: " ").dropFirst().map(String.init)
                        #expect(try await stack.start(words).ended().output.contains("Europe/Berlin"))
                        let well = try await stack.onState("doctor")
                        #expect(!well.output.contains("zone"), "\(well.output)")
                    }
                    try await stack.interrupt(up)
                }
                let last = try await stack.upAndReady()
                #expect(!last.error.contains("zone   "), "\(last.error)")
                try await stack.interrupt(last)
            }
        }

        /// This process was started by hand, so no supervisor watches its folder.
        @Test(arguments: ["", "/state.sqlite"])
        func aBackendWhoseDatabaseIsRemovedEnds(_ gone: String) async throws {
            try await withStack { stack in
                let backend = try await stack.start(["run", "backend", "--state", stack.state])
                let folder = stack.state + "/backend"
                try await until("it listens") { backend.error.contains("backend.listening") }
                try FileManager.default.moveItem(atPath: folder + gone, toPath: stack.path("aside"))
                let ended = try await backend.ended(within: 60)
                #expect(ended.exit == .code(1), "\(ended)")
                #expect(
                    ended.error.contains("\(folder)/state.sqlite was removed or replaced while the backend ran"),
                    "\(ended.error)")
                #expect(!FileManager.default.fileExists(atPath: folder + "/state.sqlite"))
            }
        }

        @Test(arguments: ["observer", "steps", "uploader"])
        func aTruncatedDatabaseIsFoundAtTheStart(_ instance: String) async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "6", "--seed", "4")
                let first = try await stack.up("--import", export, "--until-idle").ended(within: 120)
                #expect(first.exit == .code(0), "\(first.error.suffix(2000))")
                let before = try await StackContent(of: stack)
                let file = "\(stack.state)/\(instance)/state.sqlite"
                let size = try #require(FileManager.default.contents(atPath: file)).count
                #expect(truncate(file, off_t(size / 2)) == 0)
                let cut = FileManager.default.contents(atPath: file)
                let up = try await stack.up().ended()
                #expect(up.exit == .code(3), "\(up.error.suffix(1500))")
                #expect(
                    up.error.contains("\(file) is damaged: it is cut off"),
                    "\(up.error.suffix(1500))")
                #expect(FileManager.default.contents(atPath: file) == cut)
                // The suggested command is run exactly as printed.
                let words = "\(stack.state)/\(instance) \(stack.state)/\(instance).damaged"
                #expect(up.error.contains("'mv \(words)'"), "\(up.error.suffix(1500))")
                // Only the observer's file holds what can't be computed again.
                #expect(
                    up.error.contains("'healthbus zone set ZONE --state \(stack.state)'") == (instance == "observer"),
                    "\(up.error.suffix(1500))")
                let moved = try await stack.start(program: "/bin/mv", words.split(separator: " ").map(String.init))
                    .ended()
                #expect(moved.exit == .code(0))
                let again = try await stack.up("--import", export, "--until-idle").ended(within: 120)
                #expect(again.exit == .code(0), "\(again.error.suffix(2000))")
                #expect(try await StackContent(of: stack).differences(from: before) == [])
            }
        }
    }
}
