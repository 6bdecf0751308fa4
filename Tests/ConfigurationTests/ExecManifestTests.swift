import Configuration
import Foundation
import Glibc
import TestSupport
import Testing

/// What `exec` in a manifest may contain.
@Suite struct ExecManifestTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func manifest(_ members: String, kind: String = "handler") throws -> Manifest {
        let file = folder.path + "/plugin.json"
        let text = #"{"name":"mine","version":1,"protocol":{"min":1,"max":1},"kind":"\#(kind)",\#(members)}"#
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        return try Manifest(file: file)
    }

    private func refusal(_ body: () throws -> Void) -> ConfigurationError? {
        do {
            try body()
            return nil
        } catch { return error as? ConfigurationError }
    }

    @Test func namesACommandInThePluginsFolder() throws {
        let manifest = try manifest(#""exec":["sh","handler.sh"],"limits":{"daySeconds":5}"#)
        let command = try #require(manifest.exec)
        #expect(manifest.executable == "healthbus-exec")
        #expect(command.words == ["sh", "handler.sh"] && command.folder.hasSuffix(folder.path))
        #expect(command.limits.day == 5 && command.limits.start == 10)
        #expect(try command.program(path: "/nowhere:/bin") == "/bin/sh")
    }

    @Test(arguments: [
        (#""exec":"python3""#, "handler", "exec"), (#""exec":[]"#, "handler", "exec"),
        (#""exec":["sh",1]"#, "handler", "exec[1]"), (#""exec":["sh"]"#, "consolidator", "exec"),
        (#""exec":["sh"],"executable":"healthbus-x""#, "handler", "executable"),
        (#""exec":["sh"],"limits":{"day":5}"#, "handler", "limits.day"),
        (#""exec":["sh"],"limits":{"daySeconds":0}"#, "handler", "limits.daySeconds"),
        (#""executable":"healthbus-x","limits":{"daySeconds":5}"#, "handler", "limits"),
        (#""version":1"#, "handler", "executable"), (#""exec":["sh"],"window":"night""#, "handler", "window"),
        (#""exec":["sh"],"restart":"sometimes""#, "handler", "restart"),
        (
            #""exec":["sh"],"configuration":{"type":"object","properties":{"a":{"typ":"string"}}}"#, "handler",
            "configuration.properties.a.typ"
        ),
    ])
    func mistakesAreNamed(_ members: String, _ kind: String, _ key: String) throws {
        let error = try #require(refusal { _ = try manifest(members, kind: kind) })
        #expect(error.key == key && error.file == folder.path + "/plugin.json")
    }

    @Test func aProgramThatIsNotThereIsNamedWithItsManifest() throws {
        let missing = try #require(try manifest(#""exec":["pyton3","handler.py"]"#).exec)
        var error = try #require(refusal { _ = try missing.program() })
        #expect(error.file == folder.path + "/plugin.json" && error.key == "exec")
        #expect(error.reason.contains("'pyton3', which isn't in PATH"))
        // A name with a slash is a path relative to the plugin's folder; the manifest itself can't be run.
        let file = try #require(try manifest(#""exec":["./plugin.json"]"#).exec)
        error = try #require(refusal { _ = try file.program() })
        #expect(error.reason.contains("isn't a file that can be run"))
        #expect(chmod(folder.path + "/plugin.json", 0o700) == 0)
        #expect(try file.program().hasSuffix("/./plugin.json"))
    }

    @Test func examplesArePluginsTooAndNoNameComesTwice() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path
        let catalog = try PluginCatalog(folder: root + "/plugins", programs: "/nowhere")
        let example = try #require(catalog.manifests["steps-python"])
        #expect(catalog.program(example) == "/nowhere/healthbus-exec")
        #expect(example.types == catalog.manifests["steps"]?.types)
        for place in ["/a", "/examples/b"] {
            try FileManager.default.createDirectory(
                atPath: folder.path + place, withIntermediateDirectories: true)
            _ = try manifest(#""exec":["sh"]"#)
            try FileManager.default.copyItem(
                atPath: folder.path + "/plugin.json", toPath: folder.path + place + "/plugin.json")
        }
        let error = try #require(refusal { _ = try PluginCatalog(folder: folder.path, programs: "/nowhere") })
        #expect(error.key == "name" && error.reason.contains("/a/plugin.json already has"))
    }

    /// A plugin that replaces a family's own plugin delivers under that family.
    @Test func aStandInKeepsItsFamily() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path
        let file = folder.path + "/stack.json"
        try #"{"instances":{"steps":{"plugin":"steps-python"}}}"#.write(
            toFile: file, atomically: true, encoding: .utf8)
        let stack = try StackConfiguration(
            path: file, catalog: PluginCatalog(folder: root + "/plugins", programs: "/nowhere"))
        #expect(stack.family(of: "HKQuantityTypeIdentifierStepCount") == "steps")
        #expect(stack.instance("steps").map { $0.family } == "steps")
    }
}
