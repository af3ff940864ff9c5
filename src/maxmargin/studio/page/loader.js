// The first script of a tape: it unpacks the page's script and the recorded run, which are kept compressed, and starts.

/** The bytes that an element of the document holds as base64 of gzip. @param {string} id @returns {Promise<ArrayBuffer>} */
function unpacked(id) {
  const packed = Uint8Array.from(atob(document.getElementById(id)?.textContent ?? ""), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function load() {
  try {
    /** @type {any} */ (window).recorded = await unpacked("tape");
    const code = document.createElement("script");
    code.type = "module";
    code.textContent = new TextDecoder().decode(await unpacked("code"));
    document.body.append(code);
  } catch (error) {
    /** @type {HTMLElement} */ (document.getElementById("studio")).textContent = `This recorded run cannot be shown: ${/** @type {Error} */ (error).message}.`;
  }
}

load();
