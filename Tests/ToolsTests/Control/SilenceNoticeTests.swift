import Client
import Control
import Inspection
import Testing

/// What commands say of a process that is running but doesn't respond.
@Suite struct SilenceNoticeTests {
    private func notice(acting: String?, of instance: String, isHub: Bool = false) throws -> String? {
        var stack = try Stack(state: "/nowhere", configurationFile: nil)
        stack.acting = acting
        return stack.notice(of: .init(instance: instance, age: 5, isHub: isHub))
    }

    @Test func aCommandThatShowsDataSaysHowOldItIs() throws {
        let shown = try notice(acting: nil, of: "observer")
        #expect(
            shown?.hasPrefix("'observer' is running but not responding; this shows its data as of 5 s ago") == true,
            "\(shown ?? "")")
        #expect(try notice(acting: nil, of: "hub", isHub: true)?.contains("shows the last saved data") == true)
    }

    /// It is about to say that it did nothing, and why.
    @Test func aCommandThatActsDoesntSayThatItShowsAnything() throws {
        #expect(try notice(acting: "steps", of: "steps") == nil)
        #expect(try notice(acting: "steps", of: "hub", isHub: true) == nil)
        #expect(try notice(acting: "steps", of: "observer")?.contains("; this uses its data as of ") == true)
    }

    @Test(arguments: [
        ("backup", "no backup was made"), ("reset", "nothing was reset"), ("own", "nothing was changed"),
    ])
    func aRequestThatWasNotMadeIsNamed(_ action: String, _ words: String) {
        #expect(RepairClient.undone(action) == words)
    }
}
