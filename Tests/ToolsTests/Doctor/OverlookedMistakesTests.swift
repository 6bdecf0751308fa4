import Configuration
import Foundation
import Inspection
import Logging
import TestSupport
import Testing

/// Commands that only look at a stack go on where its configuration has a mistake, and say so.
@Suite struct OverlookedMistakesTests {
    private func stack(_ text: String) throws -> Stack {
        let folder = try TemporaryFolder()
        let file = folder.path + "/mine.json"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        return try Stack(state: "/nowhere", watching: file)
    }

    @Test func whatCanBeReadOfTheFileCounts() throws {
        let mine = try stack(
            #"{"instances": {"files": {"plugin": "files"}, "steps": {"plugin": "stepps"}, "hydration": null}}"#)
        #expect(mine.overlooked.map(\.key) == ["instances.steps.plugin"])
        #expect(mine.names.contains("files") && !mine.names.contains("hydration"))
        let notice = try #require(mine.mistakeNotice)
        #expect(notice.message.contains("stepps") || notice.message.contains("instances.steps.plugin"))
        #expect(notice.hint?.contains("'healthbus validate'") == true)
    }

    @Test(arguments: ["{", "[]", #"{"instances": {"steps""#]) func aFileThatIsNoConfigurationLeavesTheDefault(
        _ text: String
    ) throws {
        let mine = try stack(text)
        #expect(mine.overlooked.count == 1)
        #expect(try mine.names == Stack(state: "/nowhere", configurationFile: nil).names)
    }

    @Test func aFileThatIsGoneLeavesTheDefault() throws {
        let mine = try Stack(state: "/nowhere", watching: "/nowhere/mine.json")
        #expect(mine.overlooked.map(\.file) == ["/nowhere/mine.json"] && mine.names.contains("observer"))
    }

    @Test func nothingIsSaidWhereNothingIsWrong() throws {
        #expect(try stack(#"{"instances": {"hydration": null}}"#).mistakeNotice == nil)
    }
}
